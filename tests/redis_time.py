"""The clock of a Redis moved on: whatever is kept there with a time in it lies further back.

The scripts take the server's own time, which no test can set. Moving what was written before is the
same to them as if as much time had passed since.
"""

from __future__ import annotations

from typing import Any

from redis import RedisCluster

# Times are written as the scripts do: what a slot took of a limit is compared with it as text.
_SCRIPT = """
local passed = tonumber(ARGV[1])
local fields = {
  pause = {'until', 'set_at', 'factor_at', 'probe_until', 'off_until'},
  held = {'start', 'begun', 'from1', 'end1', 'from2', 'end2', 'from3', 'end3'},
  posts = {'used_until'},
  bypasses = {'used_until'},
}
local limits = {requests = true, tokens = true, low = true}
local function earlier(time) return string.format('%.3f', tonumber(time) - passed) end

for _, key in ipairs(redis.call('KEYS', 'tg:*')) do
  local name = string.match(key, '}:([^:]*)')
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= passed then
    redis.call('DEL', key)
  else
    for _, field in ipairs(fields[name] or {}) do
      local time = redis.call('HGET', key, field)
      if time and tonumber(time) > 0 then redis.call('HSET', key, field, earlier(time)) end
    end
    if limits[name] then redis.call('SET', key, earlier(redis.call('GET', key))) end
    if name == 'calls' or name == 'outcomes' then
      for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
        redis.call('ZINCRBY', key, -passed, member)
      end
    end
    if left >= 0 then redis.call('PEXPIRE', key, math.max(1, math.ceil(left - passed))) end
  end
end
"""


def pass_time(client: Any, seconds: float) -> None:
    """Let time pass in a node or a cluster, ends of lives included."""
    command = ("EVAL", _SCRIPT, 0, f"{seconds * 1000:.6f}")
    if isinstance(client, RedisCluster):
        cluster: Any = client
        for node in cluster.get_primaries():
            cluster.execute_command(*command, target_nodes=node)
    else:
        client.execute_command(*command)
