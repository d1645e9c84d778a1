package {package}

import "testing"

// AgentForge writes this test for one run. It must fail, or the gate does not trust the run.
func TestAgentForge{unique}(t *testing.T) { t.Fatal("agentforge: canary") }
