import type { Locator, Page } from 'playwright-core'

/** What Bull Board may offer on a run. */
const OFFERS = /^(Promote|Retry|Clean|Duplicate|Update Data|Reschedule|Change priority)$/

/** The buttons on a run of the list that is open; none when its card has none. */
export function buttonsOf(page: Page, id: string): Locator {
  const card = page.getByRole('link', { name: id }).locator('xpath=ancestor::*[.//ul][1]')
  return card.locator('ul[class*="jobActions"] button')
}

/** Clicks the button of this name on a run, and confirms it. */
export async function clickOnRun(page: Page, id: string, name: string): Promise<void> {
  const buttons = buttonsOf(page, id)
  await buttons.first().waitFor()
  for (const button of await buttons.all()) {
    if ((await nameOf(page, button)) !== name) continue
    await button.click()
    await page.getByRole('button', { name: 'Confirm' }).click()
    return
  }
  throw new Error(`the run ${id} has no button "${name}"`)
}

/** A button has its name only in a tooltip. */
async function nameOf(page: Page, button: Locator): Promise<string> {
  const tooltip = page.getByText(OFFERS)
  await page.mouse.move(0, 0)
  await tooltip.first().waitFor({ state: 'hidden' })
  await button.hover()
  await tooltip.first().waitFor()
  return (await tooltip.first().textContent()) ?? ''
}

/** The menu of acts on the queue that is open. */
export function queueMenu(page: Page): Locator {
  return page.locator('button[class*="trigger"][aria-haspopup="menu"]')
}

/** Clicks what this menu offers, and confirms it. */
export async function clickOnQueue(page: Page, name: string): Promise<void> {
  await queueMenu(page).first().click()
  await page.getByRole('menuitem', { name, exact: true }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
}
