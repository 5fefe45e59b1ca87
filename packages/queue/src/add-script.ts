/**
 * Lua: `templatesOf(json)` reads the templates of messages, `addMessage(template, id, data)` adds one by
 * BullMQ's own add script, and raises what that raises. `scripts` are the texts of BullMQ's scripts;
 * each becomes a function, whose parameters stand for the KEYS and ARGV that it is used to.
 */
export function addFunctions(scripts: readonly string[]): string {
  const functions = scripts.map((lua) => `function(KEYS, ARGV)\n${lua}\nend`)
  return `
local scripts = {
${functions.join(',\n')}
}
local function bytes(hex)
  return (hex:gsub('..', function(byte) return string.char(tonumber(byte, 16)) end))
end
-- JSON of the templates: each the number of its script, the script's KEYS, and in hex its ARGV[1] up to
-- the message's id, what is behind the id, and its ARGV[3]
local function templatesOf(json)
  local templates = {}
  for at, template in ipairs(cjson.decode(json)) do
    local script, keys, before, after, options = unpack(template)
    templates[at] = { scripts[script], keys, bytes(before), bytes(after), bytes(options) }
  end
  return templates
end
local function addMessage(template, id, data)
  local add, keys, before, after, options = unpack(template)
  return add(keys, { before .. id .. after, data, options })
end
local function failed(result)
  return redis.error_reply(type(result) == 'table' and result.err or tostring(result))
end
`
}

/**
 * A script that adds many messages in one call: a command for each message costs Redis and us twice as
 * much. `scripts` as above.
 */
export function addScript(scripts: readonly string[]): string {
  return `
-- Adds messages. One that fails does not keep the others from being added.
-- KEYS[1] any key of the queue's messages (names the slot)
-- ARGV[1] JSON of the templates
-- then for each message: number of its template, id, data
-- Returns nil, or the error of the first message that failed.
${addFunctions(scripts)}
local templates, failure = templatesOf(ARGV[1]), nil
for i = 2, #ARGV, 3 do
  local added, result = pcall(addMessage, templates[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2])
  if not added and not failure then failure = result end
end
if failure then return failed(failure) end
`
}
