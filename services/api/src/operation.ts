import type { Role } from '@jadwal/domain'
import type { RequestHandler } from 'express'
import type { z } from 'zod'
import type { ProblemKind } from './problem.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** What can be done with one method at one path. */
export interface Operation {
  /** Who may do it, at least. */
  role: Role
  doc: OperationDoc
  /**
   * What the audit log calls it, such as `tokens.create`; made of the path when left out. False: it is
   * not for the audit log, since it changes nothing, or enqueues. GET never is.
   */
  audit?: string | false
  /**
   * What it is done to, such as `/runs/:jobId` with names of its own path; what its path has up to the last
   * part that varies when left out.
   */
  subject?: string
  /** Members of its body, and of what it notes as changed, that hold secrets, beside those that are named so. */
  secrets?: readonly string[]
  /** What acts, or the last one of them does: those before it read the body. */
  handle: RequestHandler | RequestHandler[]
}

/** What `openapi.json` says of an operation. */
export interface OperationDoc {
  /** Its `operationId`, such as `listRuns`; made of method and path when left out. */
  id?: string
  /** A few words, without a full stop. */
  summary: string
  /** Markdown. */
  description?: string
  /** What stands for `:name` in its path. Ids and names need no word. */
  params?: z.ZodObject
  /** Its parameters in the query. Others are refused, unless it is a `z.looseObject`. */
  query?: z.ZodObject
  /** Headers that it heeds, by their names in lower case. */
  headers?: z.ZodObject
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
  /** Other forms of it, by their type. */
  otherwise?: Readonly<Record<string, MediaDoc>>
}

export interface AnswerDoc {
  description: string
  /** Of a body of JSON; none without. */
  schema?: z.ZodType
  example?: unknown
  /** The type of a body that is not JSON. */
  type?: string
  /** Other forms of it, by their type. */
  otherwise?: Readonly<Record<string, MediaDoc>>
  /** What its headers say, by their names. */
  headers?: Readonly<Record<string, string>>
}

/** A body of a type of its own. */
export interface MediaDoc {
  schema: z.ZodType
  /** A text is told as it is, anything else as JSON. */
  example: unknown
}
