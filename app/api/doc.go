// Package api speaks Mastodon's client API over HTTP, so that the libraries
// and apps people already use work against kith as they are.
//
//	request ─► around: id, panic, time limit ─► gate: CORS, session, rate, size ─► route: scope ─► handler
//	                                                                                                   │
//	        log line, metrics ◄── status.go: error to code and sentence ◄──────────── answer or error ─┘
//
// # Endpoints
//
// All under /api/v1 unless they begin with a slash. "public" needs no token,
// but a bad one is refused there too; "signed in" is any good token. The table
// in routes.go is the truth, and a test compares this one with it.
//
//	GET  accounts/verify_credentials        profile or read:accounts
//	GET  accounts/relationships             read:follows     at most 100 ids
//	GET  accounts/familiar_followers        read:follows     at most 40 ids
//	GET  accounts/lookup                    public
//	GET  accounts                           public           at most 40 ids
//	GET  accounts/:id                       public
//	GET  accounts/:id/followers             public           pages
//	GET  accounts/:id/following             public           pages
//	GET  accounts/:id/friends               public           pages, an extension: order=affinity|recent
//	POST accounts/:id/follow                write:follows    reblogs, notify, languages[]
//	POST accounts/:id/unfollow              write:follows
//	POST accounts/:id/remove_from_followers write:follows
//	POST accounts/:id/block                 write:blocks
//	POST accounts/:id/unblock               write:blocks
//	POST accounts/:id/mute                  write:mutes      notifications, duration
//	POST accounts/:id/unmute                write:mutes
//	POST accounts/:id/note                  write:accounts   comment
//	GET  blocks                             read:blocks      pages
//	GET  mutes                              read:mutes       pages
//	GET  follow_requests                    read:follows     pages
//	POST follow_requests/:id/authorize      write:follows
//	POST follow_requests/:id/reject         write:follows
//	POST interactions                       write:interactions  an extension, at most 1,000
//	GET  /api/v2/suggestions                read:accounts    at most 80
//	DELETE suggestions/:id                  write:accounts
//	GET  instance                           public
//	GET  /api/v2/instance                   public
//	GET  custom_emojis                      public           empty
//	GET  announcements                      signed in        empty
//	GET  lists                              read:lists       empty
//	GET  filters                            read:filters     empty
//	GET  /api/v2/filters                    read:filters     empty
//	GET  followed_tags                      read:follows     empty
//	GET  push/subscription                  push             empty
//	GET  preferences                        read:accounts    the defaults
//	GET  /.well-known/nodeinfo              public
//	GET  /nodeinfo/2.0                      public
//	GET  /health                            public
//	GET  /avatars/original/missing.png      public
//	GET  /headers/original/missing.png      public
//	GET  /livez                             public           the process runs
//	GET  /readyz                            public           503 names what is not ready
//	GET  /metrics                           public           Prometheus
//
// Everything else is 404. HEAD works where GET does.
//
// # Promises
//
//   - Who acts is the account of the token, never a parameter. The account must
//     exist; else the token is as bad as a forged one. Interactions alone name
//     their actors, and only a token that names the scope may send them.
//   - How near accounts are to each other is never told. Only the owner of a
//     list of friends sees it in the order of affinity; order=affinity on the
//     list of somebody else is by time. In that order a page has no link back,
//     and its max_id is a cursor of its own (see app/affinity), which tells the
//     order by itself, as one of the order by time does.
//   - A caller sees the sentence of an error; the cause goes to the log, once,
//     with the request id that the caller has too. No token, body or query is
//     logged.
//   - Ids are strings of decimal digits. One that no account can have is 404 in
//     a path and simply unknown in a list of ids.
//   - max_id, since_id and min_id are cursors out of a Link header, not account
//     ids. They name a place, not a row, so they stay good when the account at
//     that place is gone. A page links to the next only if it is full.
//   - A body may be a form, JSON or multipart; unknown fields are ignored,
//     values that cannot be read are refused with 422.
//
// # Sessions
//
// A good token whose account exists is remembered for a minute, or until it
// expires, so that a signature is not checked and an account not looked up for
// each request. A key that is taken back thus works for a minute longer.
//
// # Rate
//
// Windows of five minutes, the same for everybody, as in Mastodon; counted in
// this process, per account or, without a good token, per client address
// (IPv6: per /64).
package api
