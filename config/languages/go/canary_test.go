package {package}

import "testing"

// Written by AgentForge for one run: it must fail, or the run is not trusted.
func TestAgentForge{unique}(t *testing.T) { t.Fatal("agentforge: canary") }
