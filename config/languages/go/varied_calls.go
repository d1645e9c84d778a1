
// While tests run, functions of lists of numbers also call themselves with other lists. Writes one line a call to the file $AGENTFORGE_CALLS
// (kernel/gates/test_quality/varied_calls.hpp).

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

var agentforgeCalls struct {
	sync.Mutex
	busy bool
	made int
}

func agentforgeTold(results ...interface{}) string {
	if len(results) > 1 {
		switch last := results[len(results)-1].(type) {
		case nil:
		case error:
			return "-"
		case bool:
			if !last {
				return "-"
			}
		}
	}
	if len(results) == 0 || results[0] == nil {
		return "-"
	}
	text := fmt.Sprint(results[0])
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return "?"
	}
	return text
}

func agentforgeOne(file *os.File, function, kind string, given []float64, call func([]float64) string) {
	words := make([]string, len(given))
	for i, value := range given {
		words[i] = strconv.FormatFloat(value, 'g', -1, 64)
	}
	result := "-"
	func() {
		defer func() { _ = recover() }()
		result = call(append([]float64{}, given...))
	}()
	_, _ = file.WriteString(function + "\t" + kind + "\t" + strings.Join(words, ",") + "\t" + result + "\n")
}

func agentforgeVary(function string, given []float64, call func([]float64) string) {
	path := os.Getenv("AGENTFORGE_CALLS")
	agentforgeCalls.Lock()
	if path == "" || agentforgeCalls.busy || agentforgeCalls.made >= 40 || len(given) > 200 {
		agentforgeCalls.Unlock()
		return
	}
	agentforgeCalls.busy = true
	agentforgeCalls.made++
	agentforgeCalls.Unlock()
	defer func() {
		agentforgeCalls.Lock()
		agentforgeCalls.busy = false
		agentforgeCalls.Unlock()
	}()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0600)
	if err != nil {
		return
	}
	defer file.Close()
	agentforgeOne(file, function, "own", given, call)
	if len(given) < 2 {
		return
	}
	reversed := make([]float64, len(given))
	for i, value := range given {
		reversed[len(given)-1-i] = value
	}
	others := [][]float64{given[1:], given[:len(given)-1], reversed, append(append([]float64{}, given...), given...), {}}
	for i := 0; i < len(given) && i < 6; i++ {
		for _, by := range []float64{1, -1} {
			other := append([]float64{}, given...)
			other[i] += by
			others = append(others, other)
		}
	}
	for _, other := range others {
		agentforgeOne(file, function, "near", other, call)
	}
}
