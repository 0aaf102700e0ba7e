// Command runner runs the acceptance tests with "go test -json" and writes their results as TAP.
//
// Usage: runner TESTS DELIVERY SCRATCH REPORT
//
// It is a process of its own, so the report is not written by the program in which the delivery runs. A test that began
// and did not end is a failure, and so is a test program that left early.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// early names the failing point that is added when the test program left before its end.
const early = "the test program comes to its end"

type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 5 {
		log.Fatal("usage: runner TESTS DELIVERY SCRATCH REPORT")
	}
	tests, delivery, scratch, report := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	modfile := filepath.Join(scratch, "acceptance.mod")
	check(os.WriteFile(modfile, []byte(module(delivery)), 0o600))

	command := exec.Command("go", "test", "-json", "-count=1", "-vet=off", "-mod=mod", "-modfile="+modfile, ".")
	command.Dir = tests
	command.Env = environment(scratch)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	results, readErr := read(output)
	err = command.Wait()
	check(readErr)
	check(os.WriteFile(report, []byte(results.tap()), 0o600))

	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(1)
	}
	check(err)
}

// module is the suite's go.mod with the delivery in the place of its dependency.
func module(delivery string) string {
	return fmt.Sprintf("module acceptance\n\ngo 1.18\n\nrequire example.com/calc v0.0.0\n\nreplace example.com/calc => %q\n", delivery)
}

// environment is this process's without anything that steers go, and with every cache in the scratch folder.
func environment(scratch string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GO") {
			env = append(env, variable)
		}
	}
	return append(env, "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOCACHE="+filepath.Join(scratch, "go-build"), "GOPATH="+filepath.Join(scratch, "go-path"))
}

// results keeps tests in the order in which they began.
type results struct {
	names []string
	last  map[string]string
	// Whether package testing came to its end. Go itself reports the running test as passed if the program leaves
	// with status 0, so the results alone do not tell.
	ended bool
}

func read(output io.Reader) (results, error) {
	all := results{last: map[string]string{}}
	decoder := json.NewDecoder(output)
	for {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			if !all.ended {
				all.names = append(all.names, early)
			}
			return all, nil
		} else if err != nil {
			return all, err
		}
		if e.Test == "" && (e.Output == "PASS\n" || e.Output == "FAIL\n") {
			all.ended = true
		}
		name := e.Test
		if name == "" {
			if e.Action != "fail" {
				continue
			}
			name = "package " + e.Package
		}
		switch e.Action {
		case "run", "pass", "fail", "skip":
			if _, known := all.last[name]; !known {
				all.names = append(all.names, name)
			}
			// A failure stays one, whatever a later line says.
			if all.last[name] != "fail" {
				all.last[name] = e.Action
			}
		}
	}
}

func (r results) tap() string {
	var tap strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", `\n`, "\r", `\r`)
	fmt.Fprintf(&tap, "TAP version 14\n1..%d\n", len(r.names))
	for at, name := range r.names {
		switch line := fmt.Sprintf("ok %d - %s", at+1, escape.Replace(name)); r.last[name] {
		case "pass":
			fmt.Fprintln(&tap, line)
		case "skip":
			fmt.Fprintln(&tap, line+" # SKIP")
		case "run":
			fmt.Fprintf(&tap, "not %s\n  ---\n  message: began and did not end\n  ...\n", line)
		default:
			fmt.Fprintln(&tap, "not "+line)
		}
	}
	return tap.String()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
