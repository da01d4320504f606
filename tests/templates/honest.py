"""Templates as people write them, in the manner of Home Assistant's documentation: what they ask needs nothing that is hidden.

One is apart from the next by a line of dashes.
"""

HONEST = r"""
{{ states('sensor.power') | float(0) > 1000 }}
---
{{ states('sensor.temperature') | float | round(1) }} °C
---
{% if is_state('light.lamp', 'on') %}The lamp is on{% else %}The lamp is off{% endif %}
---
{{ 'open' if is_state('binary_sensor.door', 'on') else 'closed' }}
---
{{ iif(is_state('light.ceiling', 'on'), 'bright', 'dark') }}
---
{{ is_state('person.anna', 'home') | iif('Anna is here', 'Anna is out') }}
---
{{ state_attr('light.lamp', 'brightness') / 255 * 100 }}
---
{{ (state_attr('light.lamp', 'brightness') | int(0) / 2.55) | round(0) | int }}%
---
{{ states.light | selectattr('state', 'eq', 'on') | list | count }} of {{ states.light | count }} lights are on
---
{{ states.light | selectattr('state', 'eq', 'on') | map(attribute='name') | sort | join(', ') }}
---
{% set on = states.light | selectattr('state', 'eq', 'on') | map(attribute='entity_id') | list -%}
{%- if on | count > 1 %}several{% elif on | count == 1 %}only {{ on | first }}{% else %}none{% endif %}
---
{% for light in states.light -%}
  {{ light.name }} is {{ light.state }}{{ ', and ' if not loop.last else '.' }}
{%- endfor %}
---
{%- for light in states.light if light.state == 'on' %}{{ loop.index }}. {{ light.name }}
{% else %}All lights are off.{% endfor %}
---
{% for group in states.light | groupby('state') %}{{ group.grouper }}: {{ group.list | map(attribute='entity_id') | join(' ') }}; {% endfor %}
---
{% set ns = namespace(hottest=none, at='') %}
{%- for s in states.sensor if s.attributes.device_class is defined and s.attributes.device_class == 'temperature' and is_number(s.state) %}
{%- if ns.hottest is none or s.state | float > ns.hottest %}{% set ns.hottest = s.state | float %}{% set ns.at = s.name %}{% endif %}
{%- endfor %}{{ ns.at }}: {{ ns.hottest }}
---
{{ states.sensor | selectattr('attributes.device_class', 'defined') | selectattr('attributes.device_class', 'eq', 'temperature') | map(attribute='state') | map('float', 0) | max }}
---
{{ ['sensor.power', 'sensor.temperature'] | map('states') | map('float', 0) | sum | round(2) }}
---
{{ ['sensor.power', 'sensor.unknown', 'sensor.temperature'] | select('has_value') | map('states') | map('float') | average | round(1) }}
---
{{ expand('group.lights') | selectattr('state', 'eq', 'on') | list | count > 0 }}
---
{{ expand('light.lamp', 'light.ceiling') | map(attribute='entity_id') | list }}
---
{{ area_entities('Living Room') | select('match', 'light\\.') | list }}
---
{{ area_entities(area_name('light.lamp')) | expand | selectattr('domain', 'eq', 'light') | map(attribute='name') | list }}
---
{% for area in areas() -%}{{ area_name(area) }} ({{ area_entities(area) | count }}){{ ', ' if not loop.last }}{%- endfor %}
---
{{ areas() | map('area_entities') | sum(start=[]) | sort }}
---
{{ floors() | map('floor_name') | join(' / ') }}: {{ floor_areas('ground_floor') | map('area_name') | sort | join(', ') }}
---
{{ floor_entities('Downstairs') | select('is_state', 'on') | list }}
---
{{ label_entities('Night') | select('match', 'light') | sort }}
---
{{ label_areas('night') | map('area_name') | list }} {{ labels('light.lamp') | map('label_name') | list }}
---
{{ device_attr(device_id('light.lamp'), 'manufacturer') }} {{ device_attr('light.lamp', 'model') }}
---
{{ device_entities(device_id('light.lamp')) }} {{ is_device_attr(device_id('light.lamp'), 'manufacturer', 'Signify') }}
---
{{ area_name(device_id('sensor.power')) }}
---
{{ integration_entities('Hue bridge') | select('match', 'light') | list | sort }}
---
{{ config_entry_attr(config_entry_id('light.lamp'), 'title') }}
---
{{ config_entry_attr(config_entry_id('light.lamp'), 'domain') }} {{ config_entry_id('light.lamp') | config_entry_attr('state') }}
---
{{ states | map(attribute='entity_id') | map('config_entry_id') | reject('none') | unique | list | count }}
---
{{ config_entry_id('light.missing') }} {{ config_entry_attr('missing', 'title') }}
---
{{ distance('device_tracker.phone') | round(2) }} km
---
{{ distance('device_tracker.phone', 'zone.work') | round(2) }}
---
{{ distance(states.device_tracker.car) | round(1) }} {{ distance(48.0, 16.0) | round(1) }}
---
{{ distance(48.0, 16.0, 'device_tracker.car') | round(1) }} {{ distance('device_tracker.car', 47, 15) | round(1) }}
---
{{ distance('light.lamp') }} {{ distance('device_tracker.missing') }} {{ distance('zone.home', 'zone.home') }}
---
{{ closest(states.device_tracker).name }}
---
{{ closest('zone.work', states.device_tracker).entity_id }} {{ closest(states.zone.work, 'device_tracker.car').name }}
---
{{ (states.device_tracker | closest).entity_id }} {{ (states.device_tracker | closest(47.1, 15.4)).entity_id }}
---
{{ closest(47, 15, ['device_tracker.car', 'device_tracker.phone']).entity_id }} {{ closest('light.lamp', states) }} {{ closest('x.y', states) }}
---
{{ states.light.lamp.context.id == states.light.lamp.context.id }} {{ states.light.lamp.context.parent_id }} {{ states.light.lamp.context.user_id is none }}
---
{{ states.light.lamp.as_dict().attributes.brightness }} {{ states.light.lamp.as_dict() | to_json | length > 100 }}
---
{{ states.light.lamp.as_dict().keys() | list | sort }}
---
{{ states.light.lamp.as_dict() }}
---
{{ (states.light.lamp.last_changed | as_timestamp - as_timestamp(states.light.lamp.last_updated)) | abs < 1 }} {{ states.light.lamp.last_reported > now() - timedelta(hours=1) }}
---
{{ now().strftime('%H:%M') }} {{ now().isoweekday() }} {{ now().hour >= 0 and now().minute < 60 }}
---
{{ now() - timedelta(days=1) }} {{ (now() + timedelta(hours=2)).date() }}
---
{{ utcnow() < now() + timedelta(seconds=1) }} {{ as_timestamp(now()) | int == as_timestamp(utcnow()) | int }}
---
{{ today_at('22:15') > today_at('06:00') }} {{ now() < today_at('23:59:59') }}
---
{{ relative_time(states.light.lamp.last_changed) }} {{ time_since(now() - timedelta(hours=3)) }} {{ time_until(now() + timedelta(minutes=90), precision=2) }}
---
{{ as_datetime(states('input_datetime.alarm')) }} {{ state_attr('input_datetime.alarm', 'timestamp') | timestamp_custom('%d.%m.%Y %H:%M', true) }}
---
{{ (as_datetime('2026-12-24') - as_datetime('2026-11-20')).days }} days
---
{{ strptime('20.11.2026', '%d.%m.%Y').strftime('%A') }} {{ '2026-11-20T10:00:00Z' | as_datetime | as_local }}
---
{{ 1700000000 | timestamp_local }} {{ 1700000000 | timestamp_utc }} {{ 1700000000 | timestamp_custom('%Y') }}
---
{{ as_timedelta('PT10M') }} {{ '01:30:00' | as_timedelta }} {{ timedelta_string(timedelta(hours=26), precision=2) }}
---
{{ 'abc' | base64_encode }} {{ 'YWJj' | base64_decode }} {{ 'YWJj' | base64_decode(none) }} {{ 'Größe' | base64_encode | base64_decode }}
---
{{ md5('lamp') }} {{ 'lamp' | md5 }} {{ sha1('lamp') }} {{ 'lamp' | sha256 }} {{ sha512('lamp') | truncate(20, true) }}
---
{{ 0xDEADBEEF | pack('>I') }} {{ pack(3.5, '<f') }} {{ unpack(pack(513, '>H'), '>H') }} {{ '0F010d' | from_hex }} {{ 'text' | pack('>I') }}
---
{{ '0f01' | from_hex | unpack('>H') }} {{ unpack('0f01' | from_hex, '>B', offset=1) }} {{ unpack('00' | from_hex, '>I') }}
---
{{ {'temperature': 21.5, 'unit': '°C'} | to_json }} {{ '{"a": [1, 2]}' | from_json }} {{ ('{"a": {"b": 3}}' | from_json).a.b }}
---
{{ {'b': 1, 'a': 2} | to_json(sort_keys=true, pretty_print=true) }}
---
{{ (states('sensor.json') | from_json).a[:2] | sum }}
---
{{ [3, 1, 2] | sort | reverse | list }} {{ [3, 1, 2] | sort(reverse=true) }} {{ 'lamp' | reverse }}
---
{{ zip([1, 2], ['a', 'b']) | list }} {% for number, letter in zip([1, 2], ['a', 'b']) %}{{ number }}{{ letter }} {% endfor %}
---
{{ [1, 2, 3, 4, 5] | batch(2) | map('list') | list }} {{ range(0, 10, 3) | list }} {{ [1, [2, [3]]] | flatten(levels=1) }}
---
{{ ['a', 'b', 'a'] | unique | list }} {{ [1, 2] | union([2, 3]) | list }} {{ [1, 2] | difference([2]) }} {{ set([1, 1]) | list }}
---
{{ {'a': 1} | combine({'b': {'c': 2}}, recursive=true) }} {{ dict([('a', 1)]) }} {{ {'a': 1, 'b': 2}.items() | map('last') | sum }}
---
{{ {'a': 1, 'b': 2} | dictsort(by='value', reverse=true) }} {{ {'a': 1, 'b': 2}.values() | list }} {{ dict(a=1, **{'b': 2}) }}
---
{{ [1, 9, 5] | max }} {{ min(4, 2) }} {{ median([1, 2, 10]) }} {{ average(1, 2, 3) }} {{ [1, 1, 3] | statistical_mode }} {{ [5, 7] | last }}
---
{{ 7 | bitwise_and(3) }} {{ 5.678 | round(1, 'floor') }} {{ 12 | clamp(0, 10) }} {{ 200 | remap(0, 255, 0, 100) | round(0) }} {{ 365 | wrap(0, 360) }}
---
{{ 10 | log(10) }} {{ 9 | sqrt }} {{ (pi / 2) | sin }} {{ atan2(1, 2) | round(3) }} {{ 2 | multiply(3) }} {{ 2 | add(3) }}
---
{{ 'living room' | title }} {{ 'LAMP' | lower | capitalize }} {{ ' lamp ' | trim }} {{ 'a-b' | replace('-', '_') }} {{ 'Büro Süd' | slugify }}
---
{{ 'sensor.outside_temperature'.split('.')[1] | replace('_', ' ') }} {{ 'a,b;c'.replace(';', ',').split(',') }} {{ 'lamp'.startswith('la') }}
---
{{ '%.1f' | format(21.456) }} {{ '%05.1f' % 3.14159 }} {{ '{:,.2f} {}'.format(1234.5, '€') }} {{ '{:>8}|'.format('x') }} {{ '%s: %d%%' | format('Battery', 87) }}
---
{{ 'light.lamp' is match('light\\.') }} {{ 'light.lamp' is search('LAMP', ignorecase=true) }} {{ '10 km, 20 km' | regex_findall('[0-9]+') }}
---
{{ 'The lamp (on)' | regex_replace('\\s*\\(.*\\)', '') }} {{ 'a1b2' | regex_replace('([a-z])([0-9])', '\\2\\1') }} {{ 'v1.2.3' | regex_match('v(\\d+\\.)+\\d+$') }}
---
{{ 'x=1, y=2' | regex_findall('(\\w)=(\\d)') }} {{ '12:30' | regex_findall_index('\\d+', 1) }} {{ 'aa bb' | regex_search('(.)\\1') }} {{ 'AbC' | regex_replace('(?i)b', '-') }}
---
{{ ['on', 'off', 'unavailable'] | reject('in', ['unavailable', 'unknown']) | list }} {{ 'a' in ['a'] }} {{ ['a'] | contains('a') }}
---
{{ states('sensor.missing') in ['unknown', 'unavailable'] }} {{ states('sensor.missing') | float(-1) }} {{ has_value('sensor.missing') }}
---
{{ '12' | is_number }} {{ 'on' | bool }} {{ 'off' | bool(true) }} {{ none | default('nothing', true) }} {{ 'x' | int(default=3) }} {{ 'ff' | int(base=16) }}
---
{{ [1] is list }} {{ 'a' is string }} {{ {} is mapping }} {{ 1.5 is float }} {{ none is none }} {{ now() is datetime }} {{ typeof(1) }} {{ 4 is divisibleby 2 }}
---
{% macro state_of(entity) %}{{ states(entity) }}{% endmacro %}{{ state_of('light.lamp') }} {{ state_of('light.ceiling') }}
---
{% macro double(x, returns) %}{% do returns(x * 2) %}{% endmacro %}{% set double = double | as_function %}{{ double(21) }} {{ [1, 2] | map('apply', double) | list }}
---
{% set low = 20 %}{% set high = 25 %}{{ low < states('sensor.temperature') | float < high }}
---
{% set temperatures = [19.5, 21, 22.5] %}{{ temperatures | average }} {{ temperatures[0] }} {{ temperatures[-1] }} {{ temperatures[1:] }} {{ temperatures | count }}
---
{% set names = {'on': 'An', 'off': 'Aus'} %}{{ names[states('light.lamp')] }} {{ names.get(states('light.bed'), 'Unbekannt') }}
---
{% with x = 5 %}{{ x * 2 }}{% endwith %} {% set text %}Hello {{ states('light.lamp') }}{% endset %}{{ text | upper }}
---
{% for i in range(1, 6) if i is odd %}{{ loop.cycle('a', 'b') }}{{ i }}{% if i == 3 %}{% break %}{% endif %}{% endfor %}
---
{{ states.light.lamp | attr('state') }} {{ {'a': 1} | attr('items') is defined }} {{ 'text' | center(10) }}|
---
{{ '<b>bold & "x"</b>' | escape }} {{ '<b>' | e }} {{ '<b>' | forceescape }} {{ '<b>' | safe }} {{ ('<b>' | safe) is escaped }} {{ '<b>x</b> y' | striptags }}
---
{{ 'see http://example.com now' | urlize }} {{ {'class': 'a b'} | xmlattr }} {{ 'a long line of text' | wordwrap(8) }} {{ {'a': [1]} | pprint }}
---
{{ {'q': 'a b', 'n': 1} | urlencode }} {{ 'ä b' | urlencode }} {{ 'one two' | wordcount }} {{ 3000 | filesizeformat }} {{ 21 | ordinal }} {{ 'A' | ord }}
---
{{ version('2026.11.1') > version('2026.10.4') }} {{ version('2026.11.1').major }} {{ (version('2026.2.0') - version('2026.1.0')).minor }}
---
{{ entity_name('light.lamp') }} {{ 'switch.legacy' | entity_name }} {{ entity_name('light.missing') }} {{ is_hidden_entity('light.bed') }}
---
{{ state_translated('light.lamp') }} {{ states('sensor.power', rounded=true, with_unit=true) }} {{ state_attr_translated('light.lamp', 'brightness') }}
---
{{ merge_response({'calendar.home': {'events': [{'summary': 'Bins', 'start': '2026-11-21'}]}}) | map(attribute='summary') | list }}
---
{{ states.person | selectattr('state', 'eq', 'home') | map(attribute='name') | list }} {{ state_attr('zone.home', 'persons') | count }} {{ states('zone.home') | int }}
---
{{ states.sensor | selectattr('entity_id', 'search', 'temp|power') | map(attribute='entity_id') | list }} {{ states | selectattr('domain', 'in', ['light', 'switch']) | list | count }}
---
{{ states.light | rejectattr('state', 'in', ['on', 'off']) | map(attribute='name') | join(', ') or 'every light is reachable' }}
---
{{ (now() - states.light.lamp.last_changed).total_seconds() < 600 }} {{ (now() - states.light.lamp.last_updated) < timedelta(minutes=5) }}
---
{{ ['binary_sensor.door', 'light.lamp'] | select('is_state', 'on') | list }} {{ ['light.lamp'] | map('state_attr', 'brightness') | list }} {{ 'light.lamp' is is_state_attr('brightness', 180) }}
---
{{ states['light.lamp'].name }} {{ states['light']['lamp'].state }} {% set id = 'lamp' %}{{ states.light[id].state }} {{ states.light.lamp.object_id }}
---
{{ states('weather.home') | title }}, {{ state_attr('weather.home', 'temperature') }}° {{ state_attr('weather.home', 'forecast')[0]['t'] }}
---
{{ [{'n': 'a', 'v': 2}, {'n': 'b', 'v': 1}] | sort(attribute='v') | map(attribute='n') | join }} {{ [{'v': 1}, {'v': 2}] | sum(attribute='v') }} {{ ['a', 'b'] | map('upper') | join }}
---
{{ [1, 2, 3] | random in [1, 2, 3] }} {{ range(3) | shuffle('seed') | count }} {{ [4, 5] | intersect([5]) }} {{ [1] | symmetric_difference([2]) | sort }} {{ cycler('a', 'b').next() }}
"""


def honest() -> list[str]:
    """All of them."""
    return [text.strip("\n") for text in HONEST.strip().split("\n---\n")]
