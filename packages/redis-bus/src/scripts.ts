/**
 * What the server does in one step, because between two steps it could be restarted, emptied or
 * written to by a command that was given up long ago.
 */

/**
 * Appends frames to a stream, each directly behind its predecessor, so that the stream of an epoch
 * never has a hole and a later frame never lands first.
 *
 * KEYS[1] the stream · ARGV: epoch, the sequence that the checkpoint covers, TTL in ms, then from, to
 * and bytes of each frame. Answers with a word and the sequence up to which the stream has all:
 *
 *   taken        everything is there
 *   lost         the stream ends before the first frame's predecessor: it was taken and is gone
 *   absent       the stream is ahead of a frame that is not in it, and no checkpoint covers it
 *   superseded   a later epoch of the agent writes already
 *   error        the server refused an XADD, for the reason that follows
 *
 * A retried id that is "equal or smaller" than the top is success only if the entry is there, or the
 * checkpoint covers it.
 */
export const APPEND = `
local key, epoch, floor = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local last = 0
if redis.call('EXISTS', key) == 1 then
  local info = redis.call('XINFO', 'STREAM', key)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then
      local top, seq = string.match(info[at + 1], '^(%d+)-(%d+)$')
      if tonumber(top) > epoch then return {'superseded', 0} end
      if tonumber(top) == epoch then last = tonumber(seq) end
    end
  end
end
for at = 4, #ARGV, 3 do
  local before, to = tonumber(ARGV[at]) - 1, tonumber(ARGV[at + 1])
  local id = ARGV[1] .. '-' .. ARGV[at + 1]
  if to <= last then
    if to > floor and #redis.call('XRANGE', key, id, id) == 0 then return {'absent', last} end
  elseif last > before then
    return {'absent', last}
  elseif last < before and floor < before then
    return {'lost', math.max(last, floor)}
  else
    local added = redis.pcall('XADD', key, id, 'from', ARGV[at], 'frame', ARGV[at + 2])
    if type(added) == 'table' and added.err then return {'error', last, added.err} end
    last = to
  end
end
redis.call('PEXPIRE', key, ARGV[3])
return {'taken', last}
`;

/**
 * KEYS[1] the stream · ARGV: ids of entries that must be there. Answers with the number of those that
 * are not.
 */
export const COUNT_ABSENT = `
local absent = 0
for _, id in ipairs(ARGV) do
  if #redis.call('XRANGE', KEYS[1], id, id) == 0 then absent = absent + 1 end
end
return absent
`;

/**
 * Takes an epoch out of its stream so that it can be written again from the checkpoint on: an id that
 * was passed can be given again only in a stream that is new. What earlier epochs left stays.
 *
 * KEYS[1] the stream · ARGV: epoch, TTL in ms.
 */
export const RENEW = `
local earlier = redis.call('XRANGE', KEYS[1], '-', ARGV[1] .. '-0')
redis.call('DEL', KEYS[1])
for _, entry in ipairs(earlier) do redis.call('XADD', KEYS[1], entry[1], unpack(entry[2])) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return #earlier
`;
