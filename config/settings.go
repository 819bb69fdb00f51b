package config

import (
	"net/netip"
	"time"
)

// Settings is everything that can be set for `kith serve`. Other commands take the
// sections that they need. The tag limits has the least and the greatest value of a
// number, a size or a time, or:"0" also allows 0.
type Settings struct {
	MySQL    MySQL    `embed:"" group:"MySQL"`
	Cache    Cache    `embed:"" group:"Cache"`
	HTTP     HTTP     `embed:"" group:"HTTP"`
	Admin    Admin    `embed:"" group:"Operations"`
	Token    Token    `embed:"" group:"Tokens"`
	Relation Relation `embed:"" group:"Relations"`
	Home     Home     `embed:"" group:"Home timelines"`
	Affinity Affinity `embed:"" group:"Affinity"`
	Cron     Cron     `embed:"" group:"Jobs"`
	Log      Log      `embed:"" group:"Log"`
}

// MySQL says where the database is.
type MySQL struct {
	DSN     DSN    `name:"mysql" env:"KITH_MYSQL_DSN" placeholder:"DSN" help:"The MySQL or MariaDB database, as user:password@tcp(host:3306)/database or user@unix(/path/to/socket)/database. TLS and other parameters of the Go driver go after a question mark. Prefer the environment or the settings file: a flag shows in the process list."`
	TLSCA   string `name:"mysql-tls-ca" env:"KITH_MYSQL_TLS_CA" placeholder:"FILE" help:"A PEM file with the certificates that may sign that of MySQL, and no others then. Setting this or one of the next three turns TLS on. Set it where MySQL has a CA of your own; for a public one tls=true after the question mark of the DSN is enough."`
	TLSCert string `name:"mysql-tls-cert" env:"KITH_MYSQL_TLS_CERT" placeholder:"FILE" help:"A PEM file with the certificate that kith shows MySQL, for a user that was made with REQUIRE X509. It is read for each connection: replace it while kith runs."`
	TLSKey  string `name:"mysql-tls-key" env:"KITH_MYSQL_TLS_KEY" placeholder:"FILE" help:"The PEM file with the key of KITH_MYSQL_TLS_CERT."`
	TLSName string `name:"mysql-tls-name" env:"KITH_MYSQL_TLS_NAME" placeholder:"NAME" help:"The name that MySQL's certificate must have; empty means the host of the DSN. Set it where MySQL is reached by another name or an address. Give it * for any name that KITH_MYSQL_TLS_CA signed: certificates that MySQL made itself have none."`
	Pool    int    `name:"mysql-pool" env:"KITH_MYSQL_POOL" default:"40" limits:"4 1000" help:"The most connections to MySQL that this process opens, 4 to 1000. Raise it when go_sql_wait_duration_seconds_total grows and MySQL has processors to spare; those of all processes together must stay below the server's max_connections."`
}

// Cache says where rows are cached, and for how long.
type Cache struct {
	Memcached   []string      `name:"memcached" env:"KITH_MEMCACHED" placeholder:"HOST:PORT" help:"The memcached servers, comma separated, each host:port or the path of a unix socket, in the same order for every process. Empty means a cache in this process: right where there is one process only, since changes of another show after KITH_LOCAL_CACHE_EXPIRY."`
	Timeout     time.Duration `name:"cache-timeout" env:"KITH_CACHE_TIMEOUT" default:"100ms" limits:"1ms 10s" help:"How long a call to memcached may take, 1ms to 10s. A server that takes longer is not asked until it answers again. Raise it only where memcached is far away."`
	Expiry      time.Duration `name:"cache-expiry" env:"KITH_CACHE_EXPIRY" default:"10m" limits:"1s 720h" help:"How long memcached holds a row, 1s to 720h; it limits how long a row can be stale after a change of the server list or a lost update. Raise it for fewer reads of MySQL."`
	LocalSize   Size          `name:"local-cache-size" env:"KITH_LOCAL_CACHE_SIZE" default:"64MiB" limits:"1MiB 64GiB" help:"Memory of the cache in this process, 1MiB to 64GiB. Where KITH_MEMCACHED is empty it holds all rows, else only long lists, so that memcached sends them again only when they have changed. Raise it when kith_cache_gets_total shows more misses than hits, or long lists are read often, and there is memory to spare."`
	LocalExpiry time.Duration `name:"local-cache-expiry" env:"KITH_LOCAL_CACHE_EXPIRY" default:"5s" limits:"1s 24h" help:"How long the cache in this process holds a row, 1s to 24h; after that it shows what an import or another process has changed. Raise it where no other process writes."`
}

// HTTP says where and how the server answers clients.
type HTTP struct {
	Listen         string         `name:"listen" env:"KITH_LISTEN" default:"127.0.0.1:8080" help:"The address to serve on, host:port. Set it to :8080 to be reached from other machines; TLS is left to a proxy in front."`
	BaseURL        string         `name:"base-url" env:"KITH_BASE_URL" placeholder:"URL" help:"The address under which clients reach kith, such as https://social.example: links to the next page and the addresses of accounts begin with it. Empty means what each request calls the server. Set it behind a proxy that ends TLS."`
	Title          string         `name:"title" env:"KITH_TITLE" default:"kith" help:"The name of this service that clients show, 1 to 100 characters."`
	RequestTimeout time.Duration  `name:"request-timeout" env:"KITH_REQUEST_TIMEOUT" default:"10s" limits:"100ms 50s" help:"How long a request may take, 100ms to 50s; then it is answered 503. Lower it where the proxy in front gives up sooner."`
	MaxBody        Size           `name:"max-body" env:"KITH_MAX_BODY" default:"64KiB" limits:"1KiB 16MiB" help:"The longest body of a request, 1KiB to 16MiB; longer ones are answered 413. The longest sensible one, a note of 2,000 characters, fits the default."`
	RateLimit      int            `name:"rate-limit" env:"KITH_RATE_LIMIT" default:"300000" limits:"1 1000000000" help:"How many requests one account, or one address without a token, may make in 5 minutes, 1 to 1000000000; more are answered 429. Each process counts for itself. The default only stops runaway loops. Lower it when single accounts take more than their share."`
	TrustedProxies []netip.Prefix `name:"trusted-proxies" env:"KITH_TRUSTED_PROXIES" placeholder:"NETWORK" help:"The networks of the proxies in front, comma separated, such as 10.0.0.0/8. Their X-Forwarded-For header says whose requests without a token are counted together. Empty means that the other end of a connection is the client; set it when all clients come through a proxy."`
	MaxConnections int            `name:"max-connections" env:"KITH_MAX_CONNECTIONS" default:"10000" limits:"10 1000000" help:"Connections of clients that are open at once, 10 to 1000000. Where they are all taken, or the process may open no more files (ulimit -n, less what the database and memcached need), the one that has waited longest for a request is closed to let the next in."`
	Drain          time.Duration  `name:"drain" env:"KITH_DRAIN" default:"10s" limits:"0s 10m" help:"How long requests are still taken after SIGTERM or Ctrl-C, while /readyz answers 503, 0s to 10m; a second signal ends it. Let it be longer than a balancer takes to notice; 0s where there is none."`
	ShutdownGrace  time.Duration  `name:"shutdown-grace" env:"KITH_SHUTDOWN_GRACE" default:"15s" limits:"1s 10m" help:"How long requests and writes under way may take to end after KITH_DRAIN, 1s to 10m. Keep the two together below what the supervisor allows (systemd 90s, Docker 10s, Kubernetes 30s)."`
}

// Admin says where operators reach a process.
type Admin struct {
	Listen string `name:"admin-listen" env:"KITH_ADMIN_LISTEN" placeholder:"HOST:PORT" help:"An address of its own for /metrics, /livez and /readyz, of kith serve and of kith cron; two processes on one machine need two. Empty means none: kith serve then shows /metrics to its clients, which it does not otherwise, and kith cron shows none. /livez and /readyz stay where clients are answered, too, for balancers. Set it where clients must not see the metrics."`
}

// Token says which bearer tokens are accepted.
type Token struct {
	Secret    Secret `name:"token-secret" env:"KITH_TOKEN_SECRET" placeholder:"TEXT" help:"The secret that tokens are signed with (HS256), at least 32 bytes, for instance the output of: openssl rand -hex 32. Anybody who knows it can act as every account. Prefer the environment or the settings file: a flag shows in the process list. Changing it ends all tokens signed with it."`
	PublicKey string `name:"token-public-key" env:"KITH_TOKEN_PUBLIC_KEY" placeholder:"FILE" help:"A PEM file with the Ed25519 public key of the product's own sign-in, whose tokens (EdDSA) are then accepted. kith cannot make such tokens."`
	JWKS      string `name:"token-jwks" env:"KITH_TOKEN_JWKS" placeholder:"FILE|URL" help:"A file or an https address with the JSON Web Key Set of the product's own sign-in. An address is read again every 20 seconds, a file only at the start. Use it where that sign-in changes its keys."`
	Issuer    string `name:"token-issuer" env:"KITH_TOKEN_ISSUER" placeholder:"TEXT" help:"The issuer (iss) that tokens must name; empty accepts any. Set it where the keys of the sign-in also sign for others."`
	Audience  string `name:"token-audience" env:"KITH_TOKEN_AUDIENCE" placeholder:"TEXT" help:"The audience (aud) that tokens must name; empty accepts any. Set it where the sign-in serves other programs too, whose tokens would be good here otherwise."`
}

// Relation says what accounts may do.
type Relation struct {
	ListCap        int `name:"list-cap" env:"KITH_LIST_CAP" default:"10000" limits:"10 100000" help:"How many of the newest friends, followers and following each a row holds, 10 to 100000; the trim job moves older ones to the archive, a write does where there are twice as many. Counts stay, and pages go on into the archive. Lower it for smaller rows."`
	FollowingLimit int `name:"following-limit" env:"KITH_FOLLOWING_LIMIT" default:"0" limits:"0 1000000000" help:"How many accounts one account may follow, 0 for any number, at most 1000000000. A follow past it is answered 422; an account that follows more already keeps them. Set it against follow spam."`
}

// Home says how home timelines are made.
type Home struct {
	Cap          int `name:"home-cap" env:"KITH_HOME_CAP" default:"800" limits:"50 5000" help:"How many of the newest posts and reposts of a home timeline are kept ready in memcached, 50 to 5000, 5 to 9 bytes each. Older ones are read from those who posted them, so that every page is there. Raise it where readers often page further down."`
	RepostWindow int `name:"repost-window" env:"KITH_REPOST_WINDOW" default:"80" limits:"1 400" help:"Within how many posts of a home timeline the reposts of one post are one entry, 1 to 400. A repost that comes later is an entry of its own."`
	PushLimit    int `name:"push-limit" env:"KITH_PUSH_LIMIT" default:"10000" limits:"0 10000000" help:"Up to how many followers an account may have for its posts to be pushed into the home timelines of those who are around, 0 to 10000000; 0 pushes nothing. Posts of bigger accounts are read together with each page. Lower it where posting costs more than reading. Set it the same in every process."`
	Workers      int `name:"fanout-workers" env:"KITH_FANOUT_WORKERS" default:"8" limits:"1 1000" help:"How many posts this process pushes at once, 1 to 1000. Raise it when kith_tasks_oldest_seconds grows and memcached has processors to spare."`
}

// Affinity says how interactions are recorded and what they are worth, for the hidden
// order of one's friends and for suggestions.
type Affinity struct {
	Weights    Weights       `name:"affinity-weights" env:"KITH_AFFINITY_WEIGHTS" default:"follow=4,visit=1,message=4,comment=3,reply=3,repost=3,favourite=1,mention=2" help:"The kinds of interaction and what one of each is worth, kind=weight comma separated: kinds of 1 to 32 of a-z, 0-9 and _, weights above 0, at most 1000, 64 kinds at most. Only these kinds are taken; leave out what should not count, add other kinds that the product has. Interactions that were folded before a change keep their score."`
	HalfLife   time.Duration `name:"affinity-half-life" env:"KITH_AFFINITY_HALF_LIFE" default:"720h" limits:"1h 87600h" help:"The time in which an interaction loses half of its worth, 1h to 87600h. Lower it where friends should move up and down faster."`
	Kept       int           `name:"affinity-kept" env:"KITH_AFFINITY_KEPT" default:"500" limits:"10 5000" help:"For how many others an account keeps a score, those with the highest, 10 to 5000; each takes 8 to 12 bytes. Friends without a score are ordered by time."`
	Buffer     int           `name:"interaction-buffer" env:"KITH_INTERACTION_BUFFER" default:"20000" limits:"100 10000000" help:"How many interactions may wait in memory for the database, 100 to 10000000, some 60 bytes each. More are dropped, and counted in kith_interactions_dropped_total with the reason full; raise it when that grows."`
	Flush      time.Duration `name:"interaction-flush" env:"KITH_INTERACTION_FLUSH" default:"5s" limits:"100ms 10m" help:"How often interactions go from memory to the database, 100ms to 10m; a process that is killed loses those of that time. Raise it for fewer and larger writes."`
	SeenWithin time.Duration `name:"suggest-seen" env:"KITH_SUGGEST_SEEN" default:"720h" limits:"1h 87600h" help:"How recently an account must have been seen to get new suggestions, 1h to 87600h. Lower it to give the job suggest less to do."`
	Refresh    time.Duration `name:"suggest-refresh" env:"KITH_SUGGEST_REFRESH" default:"24h" limits:"1m 87600h" help:"How old the suggestions of an account may be before they are made again, 1m to 87600h."`
}

// Cron says when the maintenance jobs run and how fast they may be. `kith cron`
// and `kith dev` run them.
type Cron struct {
	Trim          Schedule      `name:"cron-trim" env:"KITH_CRON_TRIM" default:"*/5 * * * *" help:"When the job trim runs, which moves what is over KITH_LIST_CAP to the archive: a cron expression of five fields (minute, hour, day, month, weekday), or six with the second first, in UTC; off for never. Set it the same in every process."`
	Affinity      Schedule      `name:"cron-affinity" env:"KITH_CRON_AFFINITY" default:"*/5 * * * *" help:"When the job affinity runs, which folds the interactions taken since into the hidden order of friends; as KITH_CRON_TRIM."`
	Suggest       Schedule      `name:"cron-suggest" env:"KITH_CRON_SUGGEST" default:"20 * * * *" help:"When the job suggest runs, which makes the suggestions of accounts seen recently; as KITH_CRON_TRIM."`
	Audit         Schedule      `name:"cron-audit" env:"KITH_CRON_AUDIT" default:"0 2 * * 0" help:"When the job audit runs, which reads all rows and reports faults; as KITH_CRON_TRIM. The default is Sunday at 2."`
	Expire        Schedule      `name:"cron-expire" env:"KITH_CRON_EXPIRE" default:"30 3 * * *" help:"When the job expire runs, which reads all rows and drops mutes and requests whose time has passed, old Idempotency-Keys and tasks, and the homes of accounts that are gone; as KITH_CRON_TRIM."`
	Checkpoint    Schedule      `name:"cron-checkpoint" env:"KITH_CRON_CHECKPOINT" default:"*/30 * * * *" help:"When the job checkpoint runs, which saves the home timelines of accounts seen this month from memcached, where each stays for an hour after it was read, to the database; as KITH_CRON_TRIM."`
	Rate          int           `name:"cron-rate" env:"KITH_CRON_RATE" default:"5000" limits:"0 10000000" help:"How many rows a second a job reads at most, 0 for any number, at most 10000000. Lower it where live traffic feels the jobs; 10 million rows take 33 minutes with the default."`
	RequestExpiry time.Duration `name:"request-expiry" env:"KITH_REQUEST_EXPIRY" default:"2160h" limits:"1h 87600h" or:"0" help:"How long a request to follow waits for an answer before the job expire drops it, 1h to 87600h; 0 for ever. The default is 90 days."`
	GoneAfter     time.Duration `name:"gone-after" env:"KITH_GONE_AFTER" default:"4320h" limits:"24h 87600h" or:"0" help:"How long after an account was last seen the job expire drops its read positions and what is kept of its home timeline, which is made anew when the account comes back; 24h to 87600h, 0 for never. The default is 180 days."`
	RunKeep       time.Duration `name:"job-run-keep" env:"KITH_JOB_RUN_KEEP" default:"720h" limits:"1h 87600h" help:"How long the records of job runs are kept, 1h to 87600h; the newest of each job always is."`
}

// Log says what is written to standard error.
type Log struct {
	Level  string `name:"log-level" env:"KITH_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"The least that is logged: debug, info, warn or error. Set warn where one line for each request is too much."`
	Format string `name:"log-format" env:"KITH_LOG_FORMAT" default:"text" enum:"text,json" help:"The form of log lines: text, or json for programs that collect them."`
}
