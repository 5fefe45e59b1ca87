import { z } from 'zod'

/** The header of who has it already. */
export const IfNoneMatch = z.object({
  'if-none-match': z.string().optional().describe('The `ETag` of what is there already.'),
})

/** The headers of who would not overwrite others. */
export const IfMatch = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('The `ETag` of what was read: nothing is changed when it is another now.'),
  'if-none-match': z.string().optional().describe('`*`: only if it is not there.'),
})

export const ETAG = { ETag: 'Stands for it as it is now.' }
export const NOT_MODIFIED = { description: 'It is what `If-None-Match` says.', headers: ETAG }
