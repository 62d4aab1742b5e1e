-- Copies epochs for everybody who asks here; an epoch only ever grows, so a copy that comes late
-- undoes nothing.
-- KEYS[i]  tg:{epochs}:<whose>  milliseconds since the epoch of the last invalidation; 0: never
-- ARGV[i]  its value
-- ARGV[#KEYS + 1]  life, milliseconds
for i, key in ipairs(KEYS) do
  local there = tonumber(redis.call('GET', key) or '-1') or -1
  if tonumber(ARGV[i]) >= there then
    redis.call('SET', key, ARGV[i], 'PX', ARGV[#KEYS + 1])
  end
end
return 1
