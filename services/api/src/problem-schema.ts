import { z } from 'zod'

/** A problem document (RFC 9457), the answer to everything that goes wrong. */
export const ProblemDocument = z
  .looseObject({
    type: z
      .string()
      .regex(/^urn:jadwal:problem:[a-z-]+$/)
      .describe('Which problem it is. Programs go by this.'),
    title: z.string().describe('The problem in a few words, the same each time.'),
    status: z.int().min(400).max(599).describe('The status of the answer.'),
    detail: z.string().describe('What is wrong this time, for people.'),
    errors: z
      .array(
        z.strictObject({
          field: z.string().describe('Where it is: a dotted path, such as `payload.to`.'),
          message: z.string().describe('What would be right.'),
          value: z
            .union([z.string(), z.number(), z.boolean(), z.null()])
            .optional()
            .describe('What was sent, where that helps.'),
        }),
      )
      .optional()
      .describe('The fields that are wrong, at most 100.'),
    requestId: z.string().describe('Finds the request in the log of the api.'),
  })
  .meta({ id: 'Problem', description: 'What is wrong, as RFC 9457 has it.' })
