package config

import (
	"iter"
	"reflect"
	"regexp"
	"strings"

	"github.com/agnivade/levenshtein"
)

// setting is one setting as its struct tag defines it.
type setting struct {
	group, name, flag, value, placeholder, help string
}

// settings gives every setting in the order of [Settings].
func settings() iter.Seq[setting] {
	return func(yield func(setting) bool) {
		for section := range reflect.TypeFor[Settings]().Fields() {
			for field := range section.Type.Fields() {
				tag := field.Tag
				if !yield(setting{
					group: section.Tag.Get("group"), name: tag.Get("env"), flag: tag.Get("name"),
					value: tag.Get("default"), placeholder: tag.Get("placeholder"), help: tag.Get("help"),
				}) {
					return
				}
			}
		}
	}
}

// flagOf returns the flag of the setting with the given name.
func flagOf(name string) (flag string, ok bool) {
	for s := range settings() {
		if s.name == name {
			return s.flag, true
		}
	}
	return "", false
}

// fileName is the name in the environment of [File].
const fileName = "KITH_CONFIG"

// serviceRE are the names that Kubernetes puts into each container for a service
// called kith or kith-something, and Docker for a link.
var serviceRE = regexp.MustCompile(`^KITH_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// CheckNames refuses an environment (of the form of [os.Environ]) that has a name
// of kith's, KITH_…, which is not a setting: a misspelt one. Names of kith's
// tests (KITH_TEST_…, KITH_ACCEPT…) pass, and so does what Kubernetes adds.
func CheckNames(environ []string) error {
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if _, known := flagOf(name); known || name == fileName || !strings.HasPrefix(name, "KITH_") || serviceRE.MatchString(name) ||
			strings.HasPrefix(name, "KITH_TEST_") || strings.HasPrefix(name, "KITH_ACCEPT") {
			continue
		}
		return unknown(name)
	}
	return nil
}

// maxDistance is in how many letters a name may differ from the one suggested for it.
const maxDistance = 6

// unknown is the refusal of a name that is not a setting. It suggests the closest match.
func unknown(name string) error {
	match, least := "", maxDistance+1
	for s := range settings() {
		if n := levenshtein.ComputeDistance(name, s.name); n < least {
			match, least = s.name, n
		}
	}
	if match == "" {
		return refuse(name, "is not a setting of kith")
	}
	return refuse(name, "is not a setting of kith: is "+match+" meant?")
}
