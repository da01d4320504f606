"""Functions as people write them for Extended OpenAI Conversation: ours to the letter, theirs in what they do."""

AREA = """
- spec:
    name: control_home
    description: Perform actions on devices or whole areas.
    parameters:
      type: object
      properties:
        list:
          type: array
          items:
            type: object
            properties:
              domain: {type: string, description: Domain of the action.}
              service: {type: string, description: The action.}
              service_data:
                type: object
                description: What it acts on.
                properties:
                  entity_id: {type: array, items: {type: string}}
                  area_id: {type: array, items: {type: string, description: An area instead of devices.}}
            required: [domain, service, service_data]
  function:
    type: native
    name: execute_service
"""
SINGLE = """
- spec:
    name: control_one
    description: Perform one action.
    parameters:
      type: object
      properties:
        domain: {type: string}
        service: {type: string}
        service_data: {type: object}
      required: [domain, service, service_data]
  function: {type: native, name: execute_service_single}
"""
ATTRIBUTES = """
- spec:
    name: look_at
    description: Everything that an entity tells.
    parameters:
      type: object
      properties:
        entity_id: {type: string, description: Which entity.}
      required: [entity_id]
  function:
    type: template
    value_template: "{{ states[entity_id] }}"
"""
AUTOMATION = """
- spec:
    name: write_automation
    description: Add an automation.
    parameters:
      type: object
      properties:
        automation_config:
          type: string
          description: The automation in YAML, with line breaks as backslash n.
      required: [automation_config]
  function:
    type: native
    name: add_automation
"""
CALENDAR = """
- spec:
    name: appointments
    description: What is in the calendar.
    parameters:
      type: object
      properties:
        start_date_time: {type: string, description: "From, as %Y-%m-%dT%H:%M:%S%z"}
        end_date_time: {type: string, description: "To, as %Y-%m-%dT%H:%M:%S%z"}
      required: [start_date_time, end_date_time]
  function:
    type: script
    sequence:
    - service: calendar.get_events
      data:
        start_date_time: "{{ start_date_time }}"
        end_date_time: "{{end_date_time}}"
      target:
        entity_id:
        - calendar.calendar_1
      response_variable: _function_result
"""
ENERGY = """
- spec:
    name: energy_devices
    description: Ids of the statistics of devices.
    parameters:
      type: object
      properties:
        dummy: {type: string, description: Not used.}
  function:
    type: composite
    sequence:
      - type: native
        name: get_energy
        response_variable: dashboard
      - type: template
        value_template: "{{ dashboard.device_consumption | map(attribute='stat_consumption') | list }}"
- spec:
    name: consumption
    description: Numbers of statistics.
    parameters:
      type: object
      properties:
        start_time: {type: string}
        end_time: {type: string}
        statistic_ids: {type: array, items: {type: string}}
        period: {type: string, enum: [day, week, month]}
      required: [start_time, end_time, statistic_ids, period]
  function: {type: native, name: get_statistics}
"""
FAN = """
- spec:
    name: fan_mode
    description: Choose how a fan runs.
    parameters:
      type: object
      properties:
        entity_id: {type: string, description: The fan.}
        preset_mode:
          type: string
          description: The mode.
          enum:
            - off
            - auto
            - smart
      required:
      - entity_id
      - preset_mode
  function:
    type: script
    sequence:
    - service: fan.set_preset_mode
      target:
        entity_id: "{{ entity_id }}"
      data:
        preset_mode: "{{ preset_mode }}"
"""
SEARCH = """
- spec:
    name: search
    description: Search the web.
    parameters:
      type: object
      properties:
        query: {type: string}
        results_count: {type: integer, description: "How many, 3 by default."}
      required: [query]
  function:
    type: rest
    resource_template: "SERVER/search?key=KEY&cx=1:2&q={{ query | urlencode }}&num={{ results_count | default(3) }}"
    value_template: >
      {%- set found = value_json['items'] if value_json['items'] is iterable else [] %}
      {%- if found %}{{ found | tojson }}{% else %}Nothing was found.{% endif %}
"""
HISTORY = """
- spec:
    name: past
    description: Past states of entities.
    parameters:
      type: object
      properties:
        entity_ids: {type: array, items: {type: string}}
        start_time: {type: string}
        end_time: {type: string}
      required: [entity_ids]
  function:
    type: composite
    sequence:
      - type: native
        name: get_history
        response_variable: past
      - type: template
        value_template: >-
          {% set found = namespace(all=[]) %}
          {% for states in past %}
            {% set one = namespace(all=[]) %}
            {% for state in states %}
              {% set changed = state.last_changed | as_timestamp | timestamp_local if state.last_changed else None %}
              {% set one.all = one.all + [dict(state, last_changed=changed)] %}
            {% endfor %}
            {% set found.all = found.all + [one.all] %}
          {% endfor %}
          {{ found.all }}
"""
NOTIFY = """
- spec:
    name: send_message
    description: Send a message.
    parameters:
      type: object
      properties:
        message: {type: string}
      required: [message]
  function:
    type: script
    sequence:
    - service: notify.send_message
      target: {entity_id: notify.notifier}
      data:
        message: "{{ message }}"
"""
TTS = """
- spec:
    name: say
    description: Say something in a room.
    parameters:
      type: object
      properties:
        message: {type: string}
        device: {type: string, description: The speaker.}
      required: [message, device]
  function:
    type: script
    sequence:
    - service: tts.demo_say
      data:
        entity_id: "{{device}}"
        message: "{{message}}"
"""
SHOPPING_LIST = """
- spec:
    name: buy
    description: Put something on the list.
    parameters:
      type: object
      properties:
        item: {type: string, description: What to buy.}
      required: [item]
  function:
    type: script
    sequence:
    - service: shopping_list.add_item
      data:
        name: '{{item}}'
"""
SQLITE_ANY = """
- spec:
    name: ask_database
    description: Ask the database anything.
    parameters:
      type: object
      properties:
        query: {type: string, description: One SELECT.}
  function:
    type: sqlite
"""
SQLITE_CHECKED = """
- spec:
    name: ask_database_checked
    description: Ask the database of an exposed entity.
    parameters:
      type: object
      properties:
        query: {type: string, description: One SELECT.}
  function:
    type: sqlite
    query: >-
      {%- if is_exposed_entity_in_query(query) -%}
        {{ query }}
      {%- else -%}
        {{ raise("name an exposed entity") }}
      {%- endif -%}
"""
SQLITE_AT = """
- spec:
    name: state_at
    description: What a state was at a moment.
    parameters:
      type: object
      properties:
        entity_id: {type: string}
        datetime: {type: string, description: "As %Y-%m-%d %H:%M:%S"}
      required:
        - entity_id
        - datetime
        - limit
  function:
    type: sqlite
    query: >-
      {%- if is_exposed(entity_id) -%}
        SELECT datetime(now.last_updated_ts, 'unixepoch', 'localtime') AS since, now.state
        FROM states now
          INNER JOIN states_meta names ON now.metadata_id = names.metadata_id
          INNER JOIN states before ON now.old_state_id = before.state_id
        WHERE names.entity_id = '{{entity_id}}'
          AND now.state != before.state
          AND datetime(now.last_updated_ts, 'unixepoch', 'localtime') < '{{datetime}}'
        ORDER BY now.last_updated_ts DESC
        LIMIT 1
      {%- else -%}
        {{ raise("the entity must be exposed") }}
      {%- endif -%}
"""
SQLITE_BETWEEN = """
- spec:
    name: states_between
    description: Changes of a state, page by page.
    parameters:
      type: object
      properties:
        entity_id: {type: string}
        state: {type: string}
        state_operator: {type: string, enum: [">", "<", "=", ">=", "<="]}
        start_datetime: {type: string}
        end_datetime: {type: string}
        order: {type: string, enum: [asc, desc]}
        page: {type: integer}
        limit: {type: integer}
      required: [entity_id, start_datetime, end_datetime, order, page, limit]
  function:
    type: composite
    sequence:
      - type: sqlite
        query: >-
          {%- if is_exposed(entity_id) -%}
            SELECT datetime(now.last_updated_ts, 'unixepoch', 'localtime') AS changed, now.state
            FROM states now
              INNER JOIN states_meta names ON now.metadata_id = names.metadata_id
              INNER JOIN states before ON now.old_state_id = before.state_id
            WHERE names.entity_id = '{{entity_id}}'
              AND now.state != before.state
              AND (('{{state | default('')}}' = '') OR (now.state {{state_operator | default('=')}} '{{state | default('')}}'))
              AND datetime(now.last_updated_ts, 'unixepoch', 'localtime') >= '{{start_datetime}}'
              AND datetime(now.last_updated_ts, 'unixepoch', 'localtime') < '{{end_datetime}}'
            ORDER BY now.last_updated_ts {{order}}
            LIMIT {{(page-1) * limit}}, {{limit}}
          {%- else -%}
            {{ raise("the entity must be exposed") }}
          {%- endif -%}
        response_variable: rows
      - type: sqlite
        single: true
        query: >-
          SELECT count(*) AS count
          FROM states now
            INNER JOIN states_meta names ON now.metadata_id = names.metadata_id
            INNER JOIN states before ON now.old_state_id = before.state_id
          WHERE names.entity_id = '{{entity_id}}' AND now.state != before.state
            AND datetime(now.last_updated_ts, 'unixepoch', 'localtime') >= '{{start_datetime}}'
            AND datetime(now.last_updated_ts, 'unixepoch', 'localtime') < '{{end_datetime}}'
        response_variable: total
      - type: template
        value_template: '{"rows": {{rows}}, "total": {{total.count}}}'
"""
SQLITE_TOTAL = """
- spec:
    name: time_in_state
    description: How long something was in a state.
    parameters:
      type: object
      properties:
        entity_id: {type: string}
        state: {type: string}
        start_datetime: {type: string}
        end_datetime: {type: string}
      required: [entity_id, state, start_datetime, end_datetime]
  function:
    type: composite
    sequence:
      - type: sqlite
        query: >-
          {%- if is_exposed(entity_id) -%}
            WITH spans AS (
              WITH changes AS (
                SELECT datetime(before.last_updated_ts, 'unixepoch', 'localtime') AS before_at,
                  before.state AS before_state,
                  datetime(now.last_updated_ts, 'unixepoch', 'localtime') AS at,
                  now.state,
                  COALESCE(LEAD(datetime(now.last_updated_ts, 'unixepoch', 'localtime'))
                    OVER (ORDER BY now.last_updated), '{{end_datetime}}') AS next_at,
                  LEAD(now.state) OVER (ORDER BY now.last_updated) AS next_state
                FROM states now
                  INNER JOIN states_meta names ON now.metadata_id = names.metadata_id
                  INNER JOIN states before ON now.old_state_id = before.state_id
                WHERE names.entity_id = '{{entity_id}}' AND now.state != before.state
                  AND datetime(now.last_updated_ts, 'unixepoch', 'localtime')
                    BETWEEN '{{start_datetime}}' AND '{{end_datetime}}'
              )
              SELECT max(before_at, '{{start_datetime}}') AS since, before_state AS was, at AS until, state
              FROM changes WHERE at = (SELECT MIN(at) FROM changes)
              UNION ALL
              SELECT at AS since, state AS was,
                min(next_at, strftime('%Y-%m-%d %H:%M:%S', 'now', 'localtime')) AS until, next_state AS state
              FROM changes
            )
            SELECT SUM(CASE WHEN was = '{{state}}' THEN cast(strftime('%s', until, 'utc') as real)
              - cast(strftime('%s', since, 'utc') as real) ELSE 0 END) AS seconds FROM spans
          {%- else -%}
            {{ raise("the entity must be exposed") }}
          {%- endif -%}
        response_variable: result
      - type: template
        value_template: >-
          {%- if result and result[0] and result[0].seconds -%}
            {%- set seconds = result[0].seconds | int -%}
            {{ "{0}m ".format(seconds // 60) if seconds >= 60 else "" }}{{ "{0}s".format(seconds % 60) }}
          {%- else -%}
            unknown
          {%- endif -%}
"""
TIMER = """
- spec:
    name: add_later
    description: Put something on a list, now or later.
    parameters:
      type: object
      properties:
        delay:
          type: object
          description: How long to wait.
          properties:
            hours: {type: integer, minimum: 0}
            minutes: {type: integer, minimum: 0}
            seconds: {type: integer, minimum: 0}
        item: {type: string}
        list: {type: string, enum: [todo.shopping_list]}
      required: [item, list]
  function:
    type: script
    sequence:
    - service: todo.add_item
      data:
        item: '{{item}}'
      target:
        entity_id: '{{list}}'
"""
USER = """
- spec:
    name: who_is
    description: The name of a user.
    parameters:
      type: object
      properties:
        user_id: {type: string}
      required: [user_id]
  function: {type: native, name: get_user_from_user_id}
"""
WEATHER = """
- spec:
    name: forecast
    description: What the weather will be.
    parameters:
      type: object
      properties:
        entity_id: {type: string}
        type: {type: string, enum: ["daily", "hourly"]}
      required: [entity_id, type]
  function:
    type: script
    sequence:
      - service: weather.get_forecasts
        data:
          type: "{{ type }}"
        target:
          entity_id: "{{ entity_id }}"
        response_variable: _function_result
"""
PLEX = """
- spec:
    name: find_film
    description: Look for media.
    parameters:
      type: object
      properties:
        query: {type: string}
      required:
      - query
      - token
  function:
    type: rest
    resource_template: "SERVER/plex?query={{query}}&X-Plex-Token=TOKEN"
    value_template: >-
      ```csv
      title,year,director,key
      {% for film in value_json["MediaContainer"]["Metadata"] %}
        {{ film["title"]|replace(",", " ") }},{{ film["year"] }},
        {{- film["Director"][0]["tag"] if film["Director"] else "N/A" }},{{ film["key"] }}
      {% endfor -%}
      ```
- spec:
    name: play_film
    description: Play media that was found.
    parameters:
      type: object
      properties:
        key: {type: string}
        entity_id: {type: string}
        type: {type: string, enum: [movie, show, episode]}
      required: [key, entity_id, type]
  function:
    type: script
    sequence:
    - service: media_player.play_media
      data_template:
        media_content_type: "{{ type }}"
        media_content_id: "plex://1234/{{ key }}"
      target:
        entity_id: "{{ entity_id }}"
"""
GROCY = """
- spec:
    name: chores
    description: Chores that are due.
    parameters:
      type: object
      properties: {}
  function:
    type: template
    value_template: >-
      {% set all = state_attr('sensor.grocy_chores', 'chores') %}
      {% set today = now().date() | string %}
      {% set due = all | selectattr('next', 'string') | map(attribute='next')
         | map('regex_replace', 'T\\\\d{2}:\\\\d{2}:\\\\d{2}', '') | select('le', today) | list %}
      ```csv
      {% for chore in due %}{{ chore }}
      {% endfor -%}
      ```
- spec:
    name: stock
    description: What is in the pantry.
    parameters:
      type: object
      properties: {}
  function:
    type: template
    value_template: >-
      {% set products = states['sensor.grocy_stock'].attributes['products'] | list %}
      name,amount
      {% for product in products -%}
      {{ product['name'] }},
      {%- if product['available'] == 0 -%}{{ product['aggregated'] }}{%- else -%}{{ product['available'] }}{%- endif %}
      {% endfor -%}
"""
TRACK = """
- spec:
    name: packages
    description: Packages on their way.
    parameters:
      type: object
      properties: {}
  function:
    type: template
    value_template: >-
      {% set counts = {
        'delivered': states('sensor.17track_packages_delivered') | int,
        'in_transit': states('sensor.17track_packages_in_transit') | int
      } %}
      status,name,details
      {%- for status in ['delivered', 'in_transit'] if counts[status] > 0 %}
        {%- for package in state_attr('sensor.17track_packages_' + status, 'packages') %}
          {{ status }},{{ package.friendly_name }},{{ package.info_text | replace(",", ";") }}
        {%- endfor %}
      {%- endfor -%}
"""
MAIL = r"""
- spec:
    name: inbox
    description: Mails.
    parameters:
      type: object
      properties: {}
  function:
    type: template
    value_template: >-
      {% set mails = states['sensor.inbox'].attributes['data'] | list %}
      subject,to,body
      {% for mail in mails -%}
      "{{ mail['subject'] }}","{{ mail['to'] | join(', ') }}","{{ mail['body'] | replace('\n', ' ') | replace('"', '\\"') }}"
      {% endfor -%}
"""
MUSIC = """
- spec:
    name: find_music
    description: Look for music.
    parameters:
      type: object
      properties:
        query: {type: string}
      required: [query]
  function:
    type: composite
    sequence:
    - type: script
      sequence:
      - service: music_box.search
        data:
          query: "{{ query }}"
    - type: template
      value_template: >-
        type,id,title
        {% for media in state_attr('sensor.music_extra', 'search') -%}
          {{media.type}},{{media.id}},{{media.title}}
        {% endfor%}
"""
SCRAPE = """
- spec:
    name: version
    description: The newest version.
    parameters:
      type: object
      properties:
        dummy: {type: string, description: Nothing}
  function:
    type: scrape
    resource: SERVER/page
    value_template: "version: {{version}}, of: {{date}}"
    sensor:
      - name: version
        select: ".current h1"
        value_template: '{{ value.split(":")[1] | trim }}'
      - name: date
        select: ".date"
        index: 1
        value_template: '{{ value.lower() }}'
"""
FEED = """
- spec:
    name: videos
    description: New videos of a channel.
    parameters:
      type: object
      properties:
        channel_id: {type: string}
      required: [channel_id]
  function:
    type: rest
    resource_template: "SERVER/feed?channel_id={{channel_id}}"
    value_template: >-
      {% for item in value_json["feed"]["entry"] %}{{item["yt:videoId"]}},{{item["title"][0:10]}};{% endfor -%}
"""
EVENT = """
- spec:
    name: remember
    description: Remember something.
    parameters:
      type: object
      properties:
        key: {type: string}
        value: {type: string}
      required: [key, value]
  function:
    type: script
    sequence:
    - event: remember_this
      event_data:
        key: "{{key}}"
        value: "{{value}}"
"""
EVERY = {name.lower(): text for name, text in dict(globals()).items() if name.isupper() and isinstance(text, str)}
