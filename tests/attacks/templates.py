"""Templates that try to reach what is hidden, to leave the sandbox, or to use up time and memory.

In REACH, `zebra` and its like may be said by a template; the test renders each twice, once with names that do not exist.
%(device)s, %(area)s, %(floor)s and %(label)s stand for hidden ids.
"""

REACH = r"""
{{ states('sensor.zebra') }}
{{ states('SENSOR.ZEBRA') }}
{{ states(' sensor.zebra ') }}
{{ states('sensor.zebra', rounded=true, with_unit=true) }}
{{ 'sensor.zebra' | states }}
{{ states.sensor.zebra }}
{{ states.sensor.zebra.state }}
{{ states.sensor.zebra.name | default('') }}
{{ states['sensor.zebra'] }}
{{ states['sensor']['zebra'] }}
{{ states | attr('sensor') }}
{{ states.sensor | map(attribute='entity_id') | list }}
{{ states | map(attribute='state') | list }}
{{ states | map(attribute='name') | list }}
{{ states | map(attribute='attributes') | list }}
{{ states | list }}
{{ states | count }} {{ states.sensor | count }} {{ states.light | list | length }}
{{ states | selectattr('entity_id', 'eq', 'sensor.zebra') | list }}
{{ states | selectattr('entity_id', 'search', 'zeb') | list }}
{{ states | groupby('domain') | list }}
{{ states | to_json }}
{{ states.light | sort(attribute='entity_id') | map(attribute='name') | list }}
{{ state_attr('sensor.zebra', 'friendly_name') }}
{{ state_attr('group.lights', 'entity_id') }}
{{ state_attr('group.nested', 'entity_id') }}
{{ states.group.lights.attributes }}
{{ states.group.lights }}
{{ states.group | map(attribute='attributes.entity_id') | list }}
{{ expand('group.lights') | map(attribute='entity_id') | list }}
{{ expand('group.nested') | map(attribute='state') | list }}
{{ expand('sensor.zebra') }}
{{ expand(states.sensor.zebra) }}
{{ expand(['sensor.zebra', 'light.zebra', 'group.nested']) | map(attribute='name') | list }}
{{ expand(states) | map(attribute='entity_id') | list }}
{{ is_state('sensor.zebra', '31415.926') }}
{{ is_state_attr('sensor.zebra', 'narwhal', 1) }}
{{ has_value('sensor.zebra') }} {{ 'sensor.zebra' is has_value }}
{{ ['sensor.zebra', 'light.zebra'] | select('has_value') | list }}
{{ ['sensor.zebra'] | map('states') | list }}
{{ ['light.zebra'] | select('is_state', 'on') | list }}
{{ state_translated('light.zebra') }} {{ state_attr_translated('sensor.zebra', 'friendly_name') }}
{{ is_hidden_entity('sensor.zebra') }}
{{ areas() }} {{ areas() | map('area_name') | list }}
{{ area_name('%(area)s') }} {{ area_id('Quokka room') }} {{ area_id('Quokka den') }} {{ area_id('sensor.zebra') }}
{{ area_name('sensor.zebra') }} {{ area_name('%(device)s') }} {{ area_id('%(device)s') }}
{{ area_entities('%(area)s') }} {{ area_entities('Quokka room') }} {{ area_devices('Quokka room') }}
{{ area_entities('Kitchen') }}
{{ floors() }} {{ floor_name('%(floor)s') }} {{ floor_id('Zebra floor') }} {{ floor_id('Zebra storey') }}
{{ floor_areas('%(floor)s') }} {{ floor_entities('Zebra floor') }} {{ floor_name('%(area)s') }} {{ floor_id('sensor.zebra') }}
{{ labels() }} {{ labels('sensor.zebra') }} {{ labels('%(device)s') }} {{ labels('%(area)s') }}
{{ label_id('Narwhal label') }} {{ label_name('%(label)s') }} {{ label_description('%(label)s') }}
{{ label_areas('%(label)s') }} {{ label_devices('%(label)s') }} {{ label_entities('%(label)s') }} {{ label_entities('Night') }}
{{ device_id('sensor.zebra') }} {{ device_id('Axolotl bridge') }} {{ device_name('%(device)s') }} {{ device_name('sensor.zebra') }}
{{ device_attr('%(device)s', 'model') }} {{ device_attr('sensor.zebra', 'manufacturer') }} {{ device_entities('%(device)s') }}
{{ is_device_attr('%(device)s', 'model', 'Quokka 3000') }} {{ '%(device)s' is is_device_attr('manufacturer', 'Narwhal works') }}
{{ device_attr('light.lamp', 'serial_number') }} {{ device_attr('light.lamp', 'config_entry_id') }} {{ device_attr('light.lamp', '__class__') }}
{{ integration_entities('zebranet') }} {{ integration_entities('Axolotl cloud') }} {{ integration_entities('hue') }}
{{ closest(states) }}
{{ distance('zone.home', 'sensor.zebra') }}
{{ config_entry_id('sensor.zebra') }}
{{ config_entry_attr('x', 'title') }}
{{ issues() }}
{{ entity_name('sensor.zebra') }}
{% set ns = namespace(found=[]) %}{% for i in ['a', 'zebra'] %}{% set ns.found = ns.found + [states('sensor.' ~ i)] %}{% endfor %}{{ ns.found }}
{% for domain in ['light', 'sensor'] %}{% for s in states[domain] %}{{ s.entity_id }} {% endfor %}{% endfor %}
{% set states = 1 %}{{ state_attr('sensor.zebra', 'narwhal') }}
{{ '{0.sensor.zebra}'.format(states) }}
{{ '{0.sensor.zebra.state}'.format(states) }}
{{ '%s' | format(states.sensor.zebra) }}
{{ states.sensor.zebra | default('none', true) }}
{{ 'x' | apply(states) }} {{ 'sensor.zebra' | apply(states) }}
""".strip().splitlines()

ESCAPE = r"""
{{ states.__class__ }}
{{ states._home }}
{{ states['_home'] }}
{{ states | attr('_home') }}
{{ states | map(attribute='_home') | list }}
{{ states | map(attribute='_home.hass') | list }}
{{ states.light._home }}
{{ states.light._domain }}
{{ states.light.lamp._home.hass }}
{{ states.light.lamp['_state'] }}
{{ states.light.lamp._state.context }}
{{ states.light.lamp.context.__class__ }}
{{ states | attr('_home') | attr('hass') }}
{{ '' | attr('__class__') }}
{{ states.light.lamp | attr('_state') | attr('context') }}
{{ states.light.lamp.as_dict().context._user }}
{{ states.light.lamp.as_dict.__self__ }}
{{ states.light.lamp.__class__.__mro__ }}
{{ states.light.lamp.__class__.__init__.__globals__ }}
{{ states.__init__.__globals__ }}
{{ states.__call__.__func__ }}
{{ state_attr.__globals__ }}
{{ state_attr.__closure__ }}
{{ state_attr.__wrapped__ }}
{{ now.__self__.environment }}
{{ float.__self__ }}
{{ max.__self__.environment.hass }}
{{ self.__class__ }}
{{ self._TemplateReference__context }}
{{ namespace().__class__ }}
{{ namespace.__init__.__globals__ }}
{{ cycler.__init__.__globals__ }}
{{ joiner.__init__.__globals__.os }}
{{ ''.__class__.__mro__[1].__subclasses__() }}
{{ ''['__class__'] }}
{{ '{0.__class__}'.format('') }}
{{ '{0.__init__.__globals__}'.format(state_attr) }}
{{ '{0._home.hass}'.format(states) }}
{{ ('{0.__class__}' ~ '').format('') }}
{{ '{x.__class__}'.format_map({'x': 1}) }}
{{ ['{0.__class__}'] | map('format', states) | list }}
{{ '{0.__class__}' | apply('x'.format) }}
{{ (1).__class__ }}
{{ [].append(1) }}
{{ {}.update({'a': 1}) }}
{{ loop._iterable }}
{% for x in [1] %}{{ loop._iterable }}{% endfor %}
{% for x in [1] %}{{ loop.__init__ }}{% endfor %}
{% macro m() %}{% endmacro %}{{ m._func.__globals__ }}
{% macro m() %}{% endmacro %}{{ m._environment }}
{% macro m() %}{% endmacro %}{{ as_function(m).__globals__ }}
{{ (x for x in []).gi_frame }}
{{ [1] | map('string').gi_frame }}
{{ ([1] | map('string')).gi_frame.f_globals }}
{% include 'secret.jinja' %}
{% import 'secret.jinja' as s %}{{ s.x }}
{% from 'secret.jinja' import x %}
{% extends 'secret.jinja' %}
{% extends states %}
{{ lipsum.__globals__['os'] }}
{{ cycler.__init__ }}
{{ dict.mro() }}
{{ timedelta.__subclasses__() }}
{{ version('1').__class__ }}
{{ 'x' | apply(namespace.__init__) }}
{{ zip.__class__ }}
""".strip().splitlines()

BOMBS = r"""
{{ range(30000) | list | tojson(indent='x' * 30000) }}
{{ range(30000) | list | tojson('x' * 30000) }}
{{ flatten([range(100000)] * 30000) }}
{{ [states] * 30000 | flatten }}
{{ expand([range(100000)] * 30000) }}
{{ expand([states.light] * 30000) }}
{{ ('😀' * 9000) | wordwrap(1, true, '😀' * 9000) }}
{{ ('a ' * 5000) | wordwrap(width=1, wrapstring='x' * 9000) }}
{{ set(zip(range(9000), range(9000))) | count }}
{{ dict(zip(zip(range(9000), range(9000)), range(9000))) | count }}
{{ merge_response({'a': {'b': [states.light.lamp]}}) }}
{{ merge_response({'a': {'b': {'c': states}}}) }}
{{ merge_response({'a': {'b': [namespace(x=states)]}}) }}
{{ f(a=1, a=2) }}
{{ 'x' * 10**9 }}
{{ 10**9 * 'x' }}
{{ [0] * 10**9 }}
{{ (1,) * 10**9 }}
{{ ('x' * 100000) * 100000 }}
{{ 10 ** 10 ** 8 }}
{{ 2 ** 64 * 2 ** 64 }}
{{ ('9' * 4000) | int }}
{{ range(10**9) | list }}
{{ range(100000) | list }}
{{ range(100000) | map('string') | list | join }}
{{ 'x'.center(10**9) }}
{{ 'x'.ljust(10**9) }}
{{ 'x'.zfill(10**9) }}
{{ 'x'.zfill(*[10**9]) }}
{{ ('\t' * 100000).expandtabs(tabsize=900) }}
{{ (1).to_bytes(10**9, 'big') }}
{{ (1).to_bytes(length=10**9) }}
{{ 10**9 | apply('x'.center) }}
{{ [10**9] | map('apply', 'x'.center) | list }}
{{ ('x' * 100000).replace('x', 'y' * 100000) }}
{{ ('x' * 100000) | replace('x', 'y' * 100000) }}
{{ ('x' * 100000).replace('', 'y' * 100000) }}
{{ ('x' * 100000) | regex_replace('x', 'y' * 100000) }}
{{ ('x' * 900) | regex_replace('(x)', '\\1' * 100000) }}
{{ ('x' * 100000).join(range(100000) | map('string')) }}
{{ range(100000) | map('string') | join('x' * 100000) }}
{{ range(100000) | join(d='x' * 100000) }}
{{ 'x'.translate({120: 'y' * 100000}) }}
{{ '%1000000000d' % 1 }}
{{ '%*d' % (1000000000, 1) }}
{{ '%1000000000d' | format(1) }}
{{ '{:1000000000}'.format(1) }}
{{ '{:{}}'.format(1, 1000000000) }}
{{ '{0:{1}}'.format('x', 1000000000) }}
{{ ('{0}' * 100000).format('x' * 100000) }}
{{ ('%s' * 2000) % ((['x' * 1000] * 2000) | join,) }}
{{ '{:.1000000000f}'.format(1.5) }}
{{ '{x:1000000000}'.format_map({'x': 1}) }}
{{ 'a' | indent(10**9) }}
{{ ('a\n' * 100000) | indent(900, true) }}
{{ ('a\n' * 100000) | indent('x' * 100000) }}
{{ [1] | batch(10**9, 'x') | list }}
{{ [1] | slice(10**9) | list }}
{{ 1.5 | round(10**9, 'ceil') }}
{{ 'x' | truncate(10**9) }}
{{ {'a': 1} | tojson(indent=10**9) }}
{{ ('a ' * 100000) | slugify(separator='x' * 100000) }}
{{ slugify('a ' * 100000, 'x' * 100000) }}
{{ now().strftime('%c' * 100000) }}
{{ 0 | timestamp_custom('%c' * 100000) }}
{{ strptime('x' * 10000, '%Y' * 10000) }}
{{ version('1.' * 100000) }}
{{ 'x' | regex_match('a' * 100000) }}
{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}
{% for i in range(100000) %}{% for j in range(100000) %}{{ i }}{% endfor %}{% endfor %}
{% set b = 'x' * 250000 %}{% for i in range(100000) %}{{ b }}{% endfor %}
{% set b = 'x' * 250000 %}{% macro m() %}{% for i in range(100000) %}{{ b }}{% endfor %}{% endmacro %}{{ m() }}
{% set b = range(20000) | list %}{% macro m() %}{% for i in range(100000) %}{{ b }}{% endfor %}{% endmacro %}{{ m() }}
{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set x %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = x %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}
{% set ns = namespace(x=1) %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ ns.x == ns.x }}
{% set ns = namespace(x={}) %}{% for i in range(60) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{{ ns.x | to_json }}
{% set ns = namespace(x={'a': 1}) %}{% for i in range(60) %}{% set ns.x = {'a': ns.x.items(), 'b': ns.x.items()} %}{% endfor %}{{ ns.x }}
{% set ns = namespace(x={'a': 1}) %}{% for i in range(60) %}{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}{{ ns.x }}
{% set ns = namespace(x=()) %}{% for i in range(9999) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ {ns.x: 1} }}
{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = ns.x + [i] %}{% endfor %}{{ ns.x | length }}
{% set ns = namespace() %}{% set ns.x = ns %}{% for i in range(100000) %}{{ ns }}{{ ns.x.x.x }}{% endfor %}
{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}
{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}
{% block a %}{{ self.a() }}{% endblock %}
{{ range(100000) | map('multiply', 2305843009213693951) | list }}
{{ ([[1] * 100] * 9000) | sum(start=[]) }}
{{ range(20000) | map('list') | list }}
{% set ns = namespace(x=[1]) %}{% for i in range(100000) %}{% set ns.x = zip(ns.x) %}{% endfor %}{{ ns.x | list }}
{% set ns = namespace(x=[1]) %}{% for i in range(9999) %}{% set ns.x = zip(ns.x, ns.x) %}{% endfor %}{% for i in ns.x %}{% endfor %}
{% set ns = namespace(x={1: 1}) %}{% for i in range(9999) %}{% set ns.x = {1: ns.x.items()} %}{% endfor %}{{ ns.x }}
{% set t = 'a' * 490000 %}{{ t.rfind('b' ~ 'a' * 240000) }}
{% set t = 'a' * 490000 %}{{ t.rindex('b' ~ 'a' * 240000) }}
{% set t = 'a' * 490000 %}{{ t.rsplit('b' ~ 'a' * 240000) }}
{% set t = 'a' * 490000 %}{{ t.rpartition('b' ~ 'a' * 240000) }}
{% set t = 'a' * 490000 %}{{ 'b' ~ 'a' * 240000 | apply(t.rfind) }}
{% set t = 'b' * 400000 %}{{ t.strip('a' * 400000 ~ 'b') }}
{% set t = 'b' * 400000 %}{{ t | trim('a' * 400000 ~ 'b') }}
{% set t = 'a' * 490000 %}{{ t | replace('b' ~ 'a' * 240000, 'c') }}
{{ '%(a)700000000d' % {'a': 1} }}
{{ '%(a)700000000d' | format(a=1) }}
{{ '%(a(b))700000000d' % {'a(b)': 1} }}
{{ '%-+ #0700000000d' % 1 }}
{{ ('%(a)999d' * 90000) % {'a': 1} }}
{{ ('{0:999}' * 90000).format(1) }}
{{ '{0:%Y%700000000d}'.format(now()) }}
{{ ('x' * 9000).encode('idna') }}
{{ ('x' * 9000).encode('punycode') }}
{{ 'eA==' | base64_decode('idna') }}
{{ 1 | pack('>1000000000s') }}
{{ 'x'.encode() | pack('1000000000s') }}
{{ ('&' * 240000) | escape }}
{{ ('<!---->' * 20000) | striptags }}
{{ ('http://a.b ' * 20000) | urlize }}
{{ ('a ' * 20000) | wordwrap(1) }}
{{ range(20000) | list | pprint }}
{{ ('9' * 400000) | int(base=3) }}
{{ ('9' * 20000) | float }}
{{ 'a'.zfill(100000) }}
{{ 'a' | center(100000) }}
{{ dict.get({}, 1) }}
{{ (1).from_bytes(('x' * 400000).encode()) }}
{% set ns = namespace(x=range(9000) | list) %}{% for i in range(45) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson(indent=900) }}
{% for i in range(100000) %}{% for j in range(100000) %}{% set x = [1] %}{% endfor %}{% endfor %}
{% for i in range(100000) %}{% for j in range(100000) %}{% set x = [] %}{% endfor %}{% endfor %}
{{ ('a' * 200000) | groupby('ab ' * 100000) }}
{{ ('a' * 400000) | select('in', range(9000) | map('string') | list) | list }}
{{ ('a' * 400000) | sum(attribute='ab ' * 100000) }}
{% set t = '\U0001f6cb' * 400000 %}{% for i in range(1000) %}{% set x = t[1:] %}{% endfor %}
{% for i in range(100000) recursive %}{{ loop(range(100000)) }}{% endfor %}
{{ 'aaa' | apply(apply, apply, apply) }}
""".strip().splitlines()

PATTERNS = r"""
{{ ('a' * 9000) | regex_search('(?:a?){999999999}b') }}
{{ ('a' * 9000) | regex_search('((a?){1000}){1000}b') }}
{{ 'x' | regex_search('(?:(?:(?:(?:x{1000}){1000}){1000}){1000})') }}
{{ 'x' is search('x{1000000}' * 90) }}
{{ 'x' is match('(?:(?=a{9,}?)b{999,}){999,99999}') }}
{{ 'x' | regex_findall('(?>(?:a|b{300}){300}+)') }}
{{ 'x' | regex_replace('(?x) (?:a?){9 9 9 9 9 9 9 9}', '') }}
{{ 'x' | regex_replace('(?x: (?:a?){9 9 9 9 9 9 9 9})', '') }}
{{ 'x' | regex_search('(y)?(?(1)a{99999}|b{99999})') }}
{{ ('a' * 30) | regex_match('(a+)+b') }}
{{ ('a' * 30) | regex_match('(a|a)*b') }}
{{ ('a' * 30) | regex_search('(?:a*)*b') }}
{{ ('a' * 5000) | regex_search('a*a*a*b') }}
{{ ('a' * 60) | regex_match('(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)(a?)b') }}
{{ ('a' * 30) | regex_findall('(?x)(a #[\n|a)*b#]') }}
{{ ('a' * 30) | regex_match('(?#[)(a|a)*b(?#])') }}
{{ ('a' * 30) | regex_match('(?i:a|a)*b') }}
{{ ('a' * 30) is match('((((a*)*)*)*)*b') }}
{{ (['a' * 30] | select('search', '(a+)+b') | list) }}
{{ ('a' * 30) | regex_match('(a*)\\1*b') }}
{{ ('a' * 30) | regex_match(find='(a+)+b') }}
{{ ('a' * 30) | regex_match('(?P<x>a+)+b') }}
{{ ('a' * 30) | regex_match('[]a](?:[]a]|a)*b') }}
{{ ('a' * 30000) | regex_match('((a+)+)+b?c') }}
{{ ('a' * 30000) | regex_findall('(a+)+b?c') }}
{{ ('a' * 3000) | regex_replace('(?:a+)+b?c', 'x') }}
{{ ('a ' * 4000 ~ '!') | regex_search('(\\w+\\s?)+$') }}
{{ ('a' * 9000) | regex_search('(?:(?:a{1,1000}){1,1000}){1,1000}b?c') }}
{{ ('a' * 9000) | regex_search('(?=(?:a*)*b?c)(?=(?:a*)*b?c)') }}
{{ ('a' * 9000) | regex_search('(?e)(?:abababab){e<=4}c') }}
{{ ('a' * 9000) | regex_search('(?R)?a') }}
{{ ('a' * 9000) | regex_search('(a(?1)?)b?c') }}
{{ ('a' * 200000) | regex_match('a' * 990) }}
{{ ('🛋' * 9000) | regex_match('[' ~ wide ~ ']*b?c', ignorecase=true) }}
{{ ('x' * 60000) | regex_replace('(?=(x*))', '\\1' * 400) }}
{{ 'x' | regex_match('(' * 400 ~ 'x' ~ ')' * 400) }}
{{ 'x' | regex_match('x{9999999999}') }}
{{ 'x' | regex_match('[') }}
""".strip().splitlines()
"""Some of them have an answer, and some take too long for one; `wide` is 900 characters beyond the first 65,536."""
