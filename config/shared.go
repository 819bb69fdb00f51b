package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// ownNames are settings of the sections in Shared that are a process's own.
var ownNames = map[string]bool{"KITH_TOKEN_SECRET": true}

// Shared returns, by name, the settings of a server that the commands beside it
// have to agree with: the cache, the tokens, what rows are like, what the jobs
// do. What is a process's own is left out: addresses, secrets, connections, the
// log.
func (s Settings) Shared() map[string]string {
	out := map[string]string{}
	for _, section := range []any{s.Cache, s.Token, s.Relation, s.Affinity, s.Cron} {
		v := reflect.ValueOf(section)
		for field := range v.Type().Fields() {
			name, text := field.Tag.Get("env"), textOf(v.FieldByIndex(field.Index).Interface())
			// An empty value is one where the default is another.
			if !ownNames[name] && (text != "" || field.Tag.Get("default") != "") {
				out[name] = text
			}
		}
	}
	return out
}

// textOf writes a value as it would be set.
func textOf(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value)
}

// Shelf gives a kong program values for the flags that neither the command
// line nor the environment nor a settings file sets.
func Shelf(values map[string]string) kong.Option { return kong.Resolvers(resolver(values)) }
