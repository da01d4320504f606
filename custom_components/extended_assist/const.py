"""Names that several rooms share."""

import logging

DOMAIN = "extended_assist"
LOGGER = logging.getLogger(__package__)

CONF_ALLOW_WITHOUT_CHAT = "allow_without_chat"
CONF_ASK_FIRST = "ask_first"
CONF_BASE_URL = "base_url"
CONF_DATABASE_FILES = "database_files"
CONF_ENABLED = "enabled"
CONF_EXTERNAL_STATISTICS = "external_statistics"
CONF_FAMILIES = "families"
CONF_FUNCTION = "function"
CONF_MAX_TOKENS = "max_tokens"
CONF_MAX_TOOL_ROUNDS = "max_tool_rounds"
CONF_MONTHLY_TOKENS = "monthly_tokens"
CONF_PROMPT_CACHE = "prompt_cache"
CONF_RESULT_BUDGET = "result_budget"
CONF_TARGETLESS_ACTIONS = "targetless_actions"
CONF_TIER = "tier"
CONF_TOOL_SEARCH = "tool_search"
CONF_WEB_HOSTS = "web_hosts"
CONF_WEB_PORTS = "web_ports"
CONF_WHO_MAY = "who_may_{}"

SUBENTRY_CONVERSATION = "conversation"
SUBENTRY_FUNCTION = "function"
