package config

import (
	"iter"
	"reflect"
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
func flagOf(name string) string {
	for s := range settings() {
		if s.name == name {
			return s.flag
		}
	}
	panic("config: no setting " + name)
}
