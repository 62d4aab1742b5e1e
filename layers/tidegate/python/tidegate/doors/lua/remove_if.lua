-- Removes a value if it is still the one that was read: what came in its place meanwhile stays.
-- KEYS[1]  the key
-- ARGV[1]  the value
-- Returns  1 if it was removed, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
