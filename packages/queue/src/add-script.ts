/**
 * A script that adds many messages in one call, each by BullMQ's own add script: a command for each
 * message costs Redis and us twice as much. `scripts` are the texts of BullMQ's scripts; each becomes
 * a function, whose parameters stand for the KEYS and ARGV that it is used to.
 */
export function addScript(scripts: readonly string[]): string {
  const functions = scripts.map((lua) => `function(KEYS, ARGV)\n${lua}\nend`)
  return `
-- Adds messages. One that fails does not keep the others from being added.
-- KEYS[1] any key of the queue's messages (names the slot)
-- ARGV[1] JSON of the templates: each the number of its script, the script's KEYS, and in hex its
--   ARGV[1] up to the message's id, what is behind the id, and its ARGV[3]
-- then for each message: number of its template, id, data
-- Returns nil, or the error of the first message that failed.
local scripts = {
${functions.join(',\n')}
}
local function bytes(hex)
  return (hex:gsub('..', function(byte) return string.char(tonumber(byte, 16)) end))
end
local templates, failure = {}, nil
for at, template in ipairs(cjson.decode(ARGV[1])) do
  local script, keys, before, after, options = unpack(template)
  templates[at] = { scripts[script], keys, bytes(before), bytes(after), bytes(options) }
end
for i = 2, #ARGV, 3 do
  local add, keys, before, after, options = unpack(templates[tonumber(ARGV[i])])
  local added, result = pcall(add, keys, { before .. ARGV[i + 1] .. after, ARGV[i + 2], options })
  if not added and not failure then failure = result end
end
if failure then return redis.error_reply(type(failure) == 'table' and failure.err or failure) end
`
}
