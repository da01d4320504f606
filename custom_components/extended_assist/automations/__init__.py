"""Read, check, describe and change the YAML files of automations, scripts and scenes."""
