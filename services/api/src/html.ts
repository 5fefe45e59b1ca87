/** Text that is safe in HTML. Made by the tag `html` alone. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | readonly Html[]

/** Puts values into HTML, each escaped, save those that are HTML already. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const shown = parts.map((part) => {
    if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
    return part instanceof Html ? part.text : part.map((each) => each.text).join('')
  })
  return new Html(strings.reduce((text, next, at) => text + (shown[at - 1] ?? '') + next))
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}
