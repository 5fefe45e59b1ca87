import type { Role } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { z } from 'zod'
import type { ProblemKind } from './problem.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** What can be done with one method at one path. */
export interface Operation {
  /** Who may do it, at least. */
  role: Role
  doc?: OperationDoc
  handle: RequestHandler | RequestHandler[]
}

/** What `openapi.json` says of an operation. */
export interface OperationDoc {
  /** A few words, without a full stop. */
  summary: string
  /** Markdown. */
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: BodyDoc
  /** By status. Problems that any operation may answer with need no word. */
  answers: Record<number, AnswerDoc>
  problems?: readonly ProblemKind[]
}

export interface BodyDoc {
  schema: z.ZodType
  example: unknown
  /** It may also be left out. */
  isOptional?: boolean
  /** Its types; JSON alone when left out. */
  types?: readonly string[]
}

export interface AnswerDoc {
  description: string
  /** Of a body of JSON; none without. */
  schema?: z.ZodType
  example?: unknown
  /** The type of a body that is not JSON. */
  type?: string
}
