"""Constants that several rooms share."""

import logging
import re

DOMAIN = "extended_assist"
LOGGER = logging.getLogger(__package__)

ATTR_BY = "by"
ATTR_KIND = "kind"
ATTR_RESULT = "result"

CONF_ALLOW_WITHOUT_CHAT = "allow_without_chat"
CONF_ALWAYS_ASK = "always_ask"
CONF_ANSWER_WHEN_DONE = "answer_when_done"
CONF_ASK_FIRST = "ask_first"
CONF_ASK_ON_PHONES = "ask_on_phones"
CONF_BASE_URL = "base_url"
CONF_DATABASE_FILES = "database_files"
CONF_ENABLED = "enabled"
CONF_CONTEXT_TOKENS = "context_tokens"
CONF_EFFORT = "effort"
CONF_EXTERNAL_STATISTICS = "external_statistics"
CONF_FALLBACK_AGENT = "fallback_agent"
CONF_FAMILIES = "families"
CONF_FUNCTION = "function"
CONF_IN_ASSIST = "in_assist"
CONF_LISTED_TRIGGERS = "listed_triggers"
CONF_LOOK_CAMERAS = "look_cameras"
CONF_LOOK_FOLDERS = "look_folders"
CONF_LOOK_TASK = "look_task"
CONF_LOOK_WHO = "look_who"
CONF_MAX_TOKENS = "max_tokens"
CONF_MAX_TOOL_ROUNDS = "max_tool_rounds"
CONF_MEMORY_AUTOMATIONS = "memory_automations"
CONF_MEMORY_ELSEWHERE = "memory_elsewhere"
CONF_MEMORY_GUESTS = "memory_guests"
CONF_MONTHLY_TOKENS = "monthly_tokens"
CONF_NEVER_ASK = "never_ask"
CONF_PLAIN = "plain"
CONF_PRESENT = "present"
CONF_PROMPT_CACHE = "prompt_cache"
CONF_QUIET_END = "quiet_end"
CONF_QUIET_START = "quiet_start"
CONF_RECAP_HOURS = "recap_hours"
CONF_SHOW_PICTURES = "show_pictures"
CONF_RESULT_BUDGET = "result_budget"
CONF_TARGETLESS_ACTIONS = "targetless_actions"
CONF_TIER = "tier"
CONF_THINKING = "thinking"
CONF_THINKING_BUDGET = "thinking_budget"
CONF_TOOL_SEARCH = "tool_search"
CONF_WEB_FETCH = "web_fetch"
CONF_WEB_HOSTS = "web_hosts"
CONF_WEB_LOCATION = "web_location"
CONF_WEB_PORTS = "web_ports"
CONF_WEB_SEARCH = "web_search"
CONF_WHO_MAY = "who_may_{}"

EVENT_HAPPENED = f"{DOMAIN}_happened"
"""The event of a scheduled task that has ended, done or not."""
EVENT_LOOKED = f"{DOMAIN}_looked"
"""The event of an assistant that used an image of a camera or image entity."""

SUBENTRY_AI_TASK = "ai_task_data"
SUBENTRY_CONVERSATION = "conversation"
SUBENTRY_FUNCTION = "function"

# https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools; one other name costs a whole request.
PARAMETER_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The pattern for names of a tool's parameters."""
PROVIDER_TOOLS = frozenset(
    {
        *("web_search", "web_fetch", "tool_search_tool_bm25", "tool_search_tool_regex"),
        *("code_execution", "bash_code_execution", "text_editor_code_execution"),
    }
)
"""Names of tools that model providers run themselves."""
