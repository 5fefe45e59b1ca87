/** What is wrong with an address; undefined when nothing is. */
export function redisUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    return 'It must be redis://host:port or rediss://host:port, with /db behind it for another database.'
  if (!/^\/?\d*$/.test(url.pathname))
    return `The database "${url.pathname.slice(1)}" must be a number.`
  return undefined
}
