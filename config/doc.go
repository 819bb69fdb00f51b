// Package config defines every setting of kith once: the struct tags of [Settings] give
// its flag, its name in the environment, its default, its limits, and a text that says
// what it means, in which unit, and when to change it. `kith serve --help` and the settings
// file come from them, and a test compares kith.example.env with them.
//
//	flag   >   environment   >   settings file   >   default
//	--listen   KITH_LISTEN       KITH_LISTEN=…       127.0.0.1:8080
//
// A settings file (--config, KITH_CONFIG) has one NAME=value a line, with the
// names of the environment, so that the same file serves systemd as
// EnvironmentFile and Docker as env_file. Names that begin with KITH_ and are
// not a setting are refused, in the file and in the environment, because they are
// mistakes; other names belong to other programs.
//
// A setting that is missing or makes no sense is refused at the start, by name. [Secret]
// and [DSN] never print their secrets.
package config
