"""Extended Assist: a Claude agent and a toolbox for any agent, bounded by exposure."""
