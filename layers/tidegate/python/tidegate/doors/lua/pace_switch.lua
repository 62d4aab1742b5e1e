-- Sets a model's switch as the job table has it. Turned on, it also ends a cool-down: whoever
-- resumes a model has seen to its vendor.
-- KEYS[1]  tg:{<model>}:pause  see pace_cool_down
-- ARGV[1]  1: off, nobody calls; 0: on
-- ARGV[2]  when it turns on by itself, milliseconds since the epoch; 0: never
-- ARGV[3]  1: an operator turned it now; 0: only made known here (again)
-- ARGV[4]  life of what is known, milliseconds
redis.call('HSET', KEYS[1], 'known', 1, 'off', ARGV[1], 'off_until', ARGV[2])
if ARGV[3] == '1' and ARGV[1] == '0' then
  redis.call('HDEL', KEYS[1], 'until', 'set_at', 'strikes', 'reason', 'probe', 'probe_until')
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1
