import type { AppControllerRoute, AppViewRoute } from '@bull-board/api/typings/app'
import { ExpressAdapter } from '@bull-board/express'
import type { RequestHandler } from 'express'

/** What one of Bull Board's handlers answers. */
export interface BoardAnswer {
  status: number
  body: unknown
}

/** What a handler of Bull Board is asked for. */
export interface BoardQuestion {
  query: Record<string, unknown>
  params: Record<string, unknown>
}

/**
 * Bull Board without its routes: it serves its files and gives its page and its handlers to whoever asks.
 * So nothing of it can be reached but what Jadwal asks for, whatever routes a later version has.
 */
export class BoardAdapter extends ExpressAdapter {
  /** The route table of the installed version. */
  routes: readonly AppControllerRoute[] = []
  #entry: AppViewRoute | undefined

  override setApiRoutes(routes: AppControllerRoute[]): this {
    this.routes = routes
    return this
  }

  override setEntryRoute(route: AppViewRoute): this {
    this.#entry = route
    return this
  }

  /** Serves `/static`, and nothing else. */
  get files(): RequestHandler {
    return this.app
  }

  /** The paths of its page. */
  get pages(): string[] {
    return [this.#entry?.route ?? []].flat()
  }

  /** The page, which asks no other host for anything. */
  async page(): Promise<string> {
    const { basePath, uiConfig } = this
    const view = this.#entry?.handler({ basePath, uiConfig })
    if (!view) throw new Error('Bull Board has no page')
    const html = await new Promise<string>((resolve, reject) => {
      this.app.render(view.name, view.params, (error: Error | null, text: string) => {
        if (error) reject(error)
        else resolve(text)
      })
    })
    return withoutForeignLinks(html)
  }

  /** Asks one of its handlers, by the path of its route table. */
  async ask(path: string, { query, params }: BoardQuestion): Promise<BoardAnswer> {
    const route = this.routes.find((each) => each.method === 'get' && each.route === path)
    if (!route || !this.bullBoardQueues) throw new Error(`Bull Board has no GET ${path}`)
    const { status = 200, body } = await route.handler({
      queues: this.bullBoardQueues,
      uiConfig: this.uiConfig,
      query,
      params,
      body: {},
      headers: {},
    })
    return { status, body }
  }
}

/** Its fonts are Google's; the fonts of the machine do as well. */
function withoutForeignLinks(html: string): string {
  return html.replaceAll(/<link\b[^>]*\bhref="(https?:)?\/\/[^>]*>/gi, '')
}
