"""Names that several rooms share."""

import logging

DOMAIN = "extended_assist"
LOGGER = logging.getLogger(__package__)

CONF_BASE_URL = "base_url"
CONF_FAMILIES = "families"
CONF_MAX_TOKENS = "max_tokens"
CONF_MAX_TOOL_ROUNDS = "max_tool_rounds"
CONF_RESULT_BUDGET = "result_budget"
CONF_STATISTICS = "statistics"

SUBENTRY_CONVERSATION = "conversation"
