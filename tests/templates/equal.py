"""Templates that must render as in Home Assistant where everything is exposed; %(lamp)s stands for a device id."""

STATES = """
{{ states('light.lamp') }}
{{ states('LIGHT.Lamp') }}
{{ states('light.missing') }}
{{ states('not an id') }}
{{ states('sensor.power', rounded=true) }}
{{ states('sensor.temperature', rounded=true) }}
{{ states('sensor.temperature', with_unit=true) }}
{{ states('sensor.temperature', rounded=false, with_unit=true) }}
{{ states('sensor.temperature', true, true) }}
{{ states('light.lamp', with_unit=true) }}
{{ 'light.lamp' | states }}
{{ states.light.lamp.state }}
{{ states['light.lamp'].state }}
{{ states['light']['lamp'].state }}
{{ states.light['lamp'].name }}
{{ states.light.missing }}
{{ states.light.lamp }}
{{ states.light }}
{{ states }}
{{ states.light.lamp.entity_id }} {{ states.light.lamp.domain }} {{ states.light.lamp.object_id }}
{{ states.switch.legacy.name }} {{ states.sensor.unknown.name }}
{{ states.light.lamp.last_changed.isoformat() }}
{{ states.light.lamp.last_updated == states.light.lamp.last_changed }}
{{ states.light.lamp.last_reported | as_timestamp | round(0) }}
{{ states.sensor.temperature.state_with_unit }}
{{ states.light.lamp.attributes }}
{{ states.light.lamp.attributes.brightness }} {{ states.light.lamp.attributes['rgb_color'] }}
{{ states.light.lamp.attributes.missing is defined }}
{{ states.light.lamp == states('light.lamp') }}
{{ states.light.lamp == states.light.lamp }} {{ states.light.lamp == states.light.ceiling }}
{{ states.light | list | count }}
{{ states | count }} {{ states.light | length }}
{{ states | map(attribute='entity_id') | list }}
{{ states | selectattr('state', 'eq', 'on') | map(attribute='entity_id') | sort | join(', ') }}
{{ states.light | rejectattr('state', 'in', ['on', 'off']) | map(attribute='name') | list }}
{{ states.sensor | selectattr('attributes.device_class', 'defined') | map(attribute='entity_id') | list }}
{{ states.sensor | selectattr('attributes.device_class', 'eq', 'power') | map(attribute='attributes.unit_of_measurement') | list }}
{{ states | groupby('domain') | map('first') | list }}
{% for domain, found in states | groupby('domain') %}{{ domain }}={{ found | count }} {% endfor %}
{% for state in states.light %}{{ loop.index }}:{{ state.entity_id }}={{ state.state }}{{ ', ' if not loop.last }}{% endfor %}
{% for state in states %}{{ state.name }};{% endfor %}
{{ states | typeof }} {{ states.light | typeof }} {{ states.light.lamp | typeof }}
{{ states.light | list }}
{{ state_attr('light.lamp', 'brightness') }}
{{ state_attr('light.lamp', 'missing') }}
{{ state_attr('light.missing', 'brightness') }}
{{ 'light.lamp' | state_attr('rgb_color') }}
{{ state_attr('weather.home', 'forecast')[1].t }}
{{ state_attr('weather.home', 'forecast') | map(attribute='t') | sum }}
{{ is_state('light.lamp', 'on') }} {{ is_state('light.lamp', ['off', 'on']) }} {{ is_state('light.missing', 'on') }}
{{ 'light.lamp' is is_state('on') }} {{ 'light.lamp' is is_state('off') }}
{{ ['light.lamp', 'light.ceiling'] | select('is_state', 'on') | list }}
{{ ['light.lamp', 'light.ceiling'] | reject('is_state', 'on') | list }}
{{ is_state_attr('light.lamp', 'brightness', 180) }} {{ 'light.lamp' is is_state_attr('brightness', 1) }}
{{ is_state_attr('light.lamp', 'missing', none) }}
{{ has_value('light.bed') }} {{ has_value('light.lamp') }} {{ 'sensor.unknown' | has_value }} {{ 'light.missing' is has_value }}
{{ ['light.bed', 'light.lamp', 'sensor.unknown'] | select('has_value') | list }}
{{ expand('group.lights') | map(attribute='entity_id') | list }}
{{ expand('group.nested', 'light.bed') | map(attribute='entity_id') | list }}
{{ expand(states.group) | map(attribute='entity_id') | list }}
{{ expand(['light.lamp', ['light.ceiling', 'light.lamp']], states.light.bed) | map(attribute='entity_id') | list }}
{{ 'zone.home' | expand | map(attribute='name') | list }}
{{ expand(5, none, 'light.missing') }}
{{ state_translated('light.lamp') }} {{ 'light.bed' | state_translated }} {{ state_translated('light.missing') }}
{{ state_attr_translated('light.lamp', 'brightness') }} {{ state_attr_translated('light.lamp', 'x') }}
{{ is_hidden_entity('light.bed') }} {{ 'light.lamp' is is_hidden_entity }} {{ states | map(attribute='entity_id') | select('is_hidden_entity') | list }}
{{ states.sensor.json.state | from_json }}
{{ (states.sensor.json.state | from_json).a[2].b is none }}
{{ states.light.lamp.attributes | to_json }}
{{ states.light.lamp.attributes | combine({'x': 1}) }}
{{ states.light.lamp.attributes.items() | list }}
{{ state_attr('light.lamp', 'rgb_color') | list }}
"""

PLACES = """
{{ areas() }}
{{ area_id('Living Room') }} {{ area_id('lounge') }} {{ area_id('Lounge') }} {{ area_id('light.lamp') }} {{ area_id('%(lamp)s') }}
{{ area_id('Nowhere') }} {{ area_id('light.missing') }} {{ area_id(5) }}
{{ 'Kitchen' | area_id }} {{ 'sensor.power' | area_id }}
{{ area_name('living_room') }} {{ area_name('light.lamp') }} {{ 'sensor.power' | area_name }} {{ area_name('%(meter)s') }} {{ area_name('x') }}
{{ area_entities('living_room') | sort }} {{ area_entities('Kitchen') | sort }}
{{ 'Lounge' | area_entities | sort }} {{ area_entities('Nowhere') }} {{ area_entities('light.lamp') }}
{{ area_devices('Kitchen') == ['%(meter)s'] }} {{ 'living_room' | area_devices | count }} {{ area_devices('x') }}
{{ areas() | map('area_name') | sort }}
{% for area in areas() %}{{ area_name(area) }}: {{ area_entities(area) | select('is_state', 'on') | list | count }}; {% endfor %}
{{ area_entities('Kitchen') | expand | selectattr('domain', 'eq', 'light') | map(attribute='name') | sort | join(', ') }}
{{ states | map(attribute='entity_id') | map('area_name') | list }}
{{ floors() }}
{{ floor_id('Ground floor') }} {{ floor_id('Downstairs') }} {{ floor_id('Kitchen') }} {{ floor_id('light.lamp') }} {{ floor_id('%(lamp)s') }}
{{ floor_id('x') }} {{ 'light.bed' | floor_id }} {{ floor_id('switch.legacy') }}
{{ floor_name('ground_floor') }} {{ floor_name('kitchen') }} {{ 'light.bed' | floor_name }} {{ floor_name('x') }}
{{ floor_areas('ground_floor') }} {{ 'Upper floor' | floor_areas }} {{ floor_areas('x') }} {{ floor_areas('Downstairs') }}
{{ floor_entities('ground_floor') | sort }} {{ 'Upper floor' | floor_entities }} {{ floor_entities('light.lamp') }}
{{ labels() | sort }}
{{ labels('light.lamp') }} {{ labels('%(lamp)s') }} {{ labels('living_room') }} {{ 'light.ceiling' | labels | sort }} {{ labels('x') }}
{{ label_id('Night') }} {{ 'Important' | label_id }} {{ label_id('x') }}
{{ label_name('night') }} {{ 'important' | label_name }} {{ label_name('x') }}
{{ label_description('night') }} {{ 'important' | label_description }} {{ label_description('x') }}
{{ label_areas('Night') }} {{ 'outside_things' | label_areas }} {{ label_areas('x') }}
{{ label_devices('important') == ['%(lamp)s'] }} {{ 'Night' | label_devices }} {{ label_devices('x') }}
{{ label_entities('night') | sort }} {{ 'Important' | label_entities | sort }} {{ label_entities('x') }}
{{ device_id('light.lamp') == '%(lamp)s' }} {{ device_id('Floor lamp') == '%(lamp)s' }} {{ 'Kitchen meter' | device_id == '%(meter)s' }} {{ device_id('Meter') }} {{ device_id('light.bed') }}
{{ device_name('light.lamp') }} {{ device_name('%(meter)s') }} {{ 'sensor.power' | device_name }} {{ device_name('x') }}
{{ device_entities('%(lamp)s') }} {{ '%(meter)s' | device_entities }} {{ device_entities('x') }} {{ device_entities(none) }}
{{ device_attr('light.lamp', 'manufacturer') }} {{ device_attr('%(lamp)s', 'model') }} {{ '%(lamp)s' | device_attr('sw_version') }} {{ device_attr('x', 'model') }} {{ device_attr('light.x', 'model') }}
{{ device_attr('light.lamp', 'area_id') }} {{ device_attr('light.lamp', 'name') }} {{ device_attr('sensor.power', 'name_by_user') }} {{ device_attr('light.lamp', 'missing') }} {{ device_attr('light.lamp', 'labels') }} {{ device_attr('light.lamp', 'via_device_id') }}
{{ is_device_attr('light.lamp', 'model', 'LCA001') }} {{ 'light.lamp' is is_device_attr('model', 'x') }} {{ is_device_attr('x', 'y', none) }}
{{ integration_entities('Hue bridge') | sort }} {{ 'zebranet' | integration_entities }} {{ integration_entities('x') }} {{ integration_entities('') }}
"""

PURE = """
plain text
{# a comment #}text
{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ 7 % 4 }} {{ 2 ** 10 }} {{ 'a' * 3 }} {{ [1] * 2 }} {{ 'a' ~ 1 ~ none }} {{ 1 / 3 }}
{{ [1, 2] + [3] }} {{ (1, 2) }} {{ {'a': [1]} }} {{ 'x' + 'y' }} {{ (1,) }}
{{ [3, 1, 2] | sort }} {{ [3, 1, 2] | sort(reverse=true) | first }} {{ [1, 2] | last }} {{ [1, 2, 2] | unique | list }}
{{ [1, 2, 3] | sum }} {{ [[1], [2]] | sum(start=[]) }} {{ [1, 5] | max }} {{ max(1, 5) }} {{ min([2, 1]) }} {{ [1, 2, 6] | average }} {{ median([1, 3, 2]) }}
{{ '%.2f' | format(3.14159) }} {{ '%s is %d' % ('a', 3) }} {{ '{:.1f} {}'.format(2.25, 'x') }} {{ '{a}'.format(a=1) }}
{{ 'abc' | upper }} {{ 'a b' | title }} {{ 'ABC' | lower }} {{ ' x ' | trim }} {{ 'abc' | replace('b', 'x') }} {{ 'abc'.replace('b', 'y') }} {{ 'ab' | reverse }} {{ 'hello world' | capitalize }}
{{ 'a,b'.split(',') }} {{ ','.join(['a', 'b']) }} {{ ['a', 'b'] | join('-') }} {{ 'abc'[1:] }} {{ 'x'.center(5) }} {{ 'abc' | truncate(2, true, '') }}
{{ 'Größe Ä' | slugify }} {{ slugify('A b', '-') }} {{ 'abc' | regex_match('a.c') }} {{ 'abc' | regex_search('b') }} {{ 'a1b22' | regex_findall('[0-9]+') }} {{ 'a1' | regex_replace('([0-9])', '<\\\\1>') }} {{ 'x12' | regex_findall_index('\\\\d', 1) }}
{{ 'abc' is match('a') }} {{ 'abc' is search('C', ignorecase=true) }} {{ ['on', 'off'] | select('match', 'o[nf]$') | list }}
{{ '5' | int + 1 }} {{ 'x' | int(0) }} {{ '5.5' | float }} {{ 'x' | float(1.5) }} {{ '1' | bool }} {{ 'x' | is_number }} {{ 3.14159 | round(2) }} {{ 3.5 | round(0, 'floor') }} {{ -3 | abs }}
{{ iif(true, 'yes', 'no') }} {{ false | iif('yes', 'no') }} {{ none | default('d', true) }} {{ nothing | default('d') }} {{ nothing is defined }}
{{ [1, 2, 3, 4] | batch(2) | list }} {{ [1, 2, 3] | slice(2) | list }} {{ {'b': 1, 'a': 2} | dictsort }} {{ {'a': 1}.items() | list }} {{ {'a': 1} | items | list }} {{ {'a': 1}.get('b', 2) }}
{{ [1, [2, [3]]] | flatten }} {{ [1, 2] | union([3]) | sort }} {{ [1, 2] | intersect([2]) }} {{ [1, 2] | difference([2]) }} {{ [1] | symmetric_difference([2]) | sort }} {{ zip([1, 2], ['a', 'b']) | list }}
{{ [1, 2] | map('multiply', 2) | list }} {{ [1, 2] | map('add', 1) | list }} {{ range(5) | select('odd') | list }} {{ range(5) | reject('even') | list }} {{ [{'a': 1}] | map(attribute='a') | list }} {{ 5 | clamp(0, 3) }} {{ 370 | wrap(0, 360) }} {{ 5 | remap(0, 10, 0, 100) }}
{{ sqrt(16) }} {{ 2 | log(2) }} {{ sin(0) }} {{ pi | round(3) }} {{ e | round(3) }} {{ tau > pi }} {{ 5 | bitwise_and(4) }} {{ bitwise_or(1, 2) }} {{ 6 | bitwise_xor(3) }} {{ atan2(1, 1) | round(3) }} {{ [1, 1, 2] | statistical_mode }}
{{ as_timestamp('2026-11-20 10:00:00') }} {{ 0 | timestamp_custom('%Y-%m-%d') }} {{ 0 | timestamp_local }} {{ 0 | timestamp_utc }} {{ as_datetime('2026-11-20T10:00:00+00:00') }} {{ '2026-11-20' | as_datetime }} {{ as_timedelta('PT10M') }} {{ strptime('2026', '%Y') }} {{ timedelta(hours=2) }} {{ as_datetime(0) | as_local }}
{{ now().date() == utcnow().date() or true }} {{ today_at('12:30').strftime('%H:%M') }} {{ (now() - timedelta(hours=3, minutes=1)) | relative_time }} {{ time_since(now() - timedelta(days=2, hours=1), 2) }} {{ time_until(now() + timedelta(days=2, minutes=1)) }} {{ timedelta_string(timedelta(hours=5)) }}
{{ {'a': 1} | to_json }} {{ '[1]' | from_json }} {{ {'a': 1} | tojson }} {{ {'a': 1} | to_json(pretty_print=true) }} {{ '{' | from_json(default='bad') }} {{ urlencode({'a': 'b c'}) is defined }} {{ 'a b' | urlencode }}
{% set ns = namespace(total=0) %}{% for i in range(4) %}{% set ns.total = ns.total + i %}{% endfor %}{{ ns.total }}
{% macro double(x) %}{{ x * 2 }}{% endmacro %}{{ double(2) }} {{ double('ab') }}
{% macro double(x, returns) %}{% do returns(x * 2) %}{% endmacro %}{{ as_function(double)(4) }} {{ [1, 2] | map('apply', double | as_function) | list }}
{% for i in [1, 2, 3] if i != 2 %}{% if loop.first %}first {% endif %}{{ i }}{% else %}none{% endfor %} {% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% set x %}a{{ 1 }}b{% endset %}{{ x | upper }} {% filter upper %}text{% endfilter %} {% set a, b = 1, 2 %}{{ a + b }} {% with c = 3 %}{{ c }}{% endwith %}
{% macro wrapper() %}<{{ caller() }}>{% endmacro %}{% call wrapper() %}inside{% endcall %} {% for i in [1, [2, [3]]] recursive %}{{ loop(i) if i is iterable else i }}{% endfor %}
{{ cycler('a', 'b').next() }} {{ joiner(',')() }} {{ dict(a=1) }} {{ set([1]) }} {{ tuple([1]) }} {{ version('2026.11.0') > '2026.10.4' }} {{ 'a' | ord }} {{ 3 | ordinal }} {{ 1000 | filesizeformat }} {{ 'a b' | wordcount }} {{ 'a\\nb' | indent(2) }} {{ 5 | string }}
{{ 5 is number }} {{ 'a' is string }} {{ [1] is list }} {{ (1,) is tuple }} {{ set([1]) is set }} {{ {} is mapping }} {{ now() is datetime }} {{ 4 is divisibleby 2 }} {{ none is none }} {{ 1 is in [1] }} {{ [1] is contains(1) }} {{ [1] | contains(2) }} {{ 5 is sameas 5 }} {{ 'x' is string_like }} {{ true is boolean }} {{ 1 is integer }} {{ 1.5 is float }} {{ 'a' is lower }} {{ 'upper' is filter }} {{ 'odd' is test }} {{ now is callable }}
{{ merge_response({'calendar.a': {'events': [{'x': 1}]}}) }} {{ {'a': {'b': 1}} | combine({'a': {'c': 2}}, recursive=true) }} {{ combine({'a': 1}, {'b': 2}) }} {{ 'x' | typeof }} {{ typeof([1]) }} {{ [1] | is_defined }}
{{ [2, 1] | shuffle(seed=1) | count }} {{ [7] | random }} {{ 'ab' | list }} {{ 'a' in 'abc' }} {{ not true }} {{ 1 if false else 2 }} {{ 1 < 2 < 3 }} {{ 'a' if false }}|
{{ undefined_name }}| {{ {}.x }}| {{ {'a': {}}.a.b | default('deep') }}
"""


def collection(lamp: str, meter: str) -> list[str]:
    """Return all templates, for a home with two devices of known ids."""
    lines = [line for block in (STATES, PLACES, PURE) for line in block.strip().splitlines()]
    return [line.replace("%(lamp)s", lamp).replace("%(meter)s", meter) for line in lines]
