// Package api speaks Mastodon's client API over HTTP, so that existing libraries and apps
// work with kith as they are.
//
//	core            carries a request to its route and the answer back; see its doc
//	entity          the JSON of Account, Relationship and Status
//	accounts, relations, lists, statuses, timelines, markers, interactions, suggestions, instance, operations
//	                a resource each: a table of routes and their handlers
//	socket          the connections, and what net/http answers by itself
//
// New puts the tables together. A new resource is a package with a function Routes and
// a line in New. A route says what it needs (core.Needs): scopes, a body and its length,
// its rate class, and whether it is long-lived.
//
// # Endpoints
//
// All are under /api/v1 unless they begin with a slash. "public" needs no token, but a
// bad one is refused there too; "signed in" is any good token. A good token without
// read:statuses counts as none where posts are shown, and without read:accounts where
// followers, following and friends are. A test compares this table
// with those of the resources.
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
//	POST statuses                           write:statuses   see package statuses
//	GET  statuses                           public           at most 20 ids
//	GET  statuses/:id                       public
//	PUT  statuses/:id                       write:statuses   always 422: posts cannot be edited
//	DELETE statuses/:id                     write:statuses
//	GET  statuses/:id/context               public           see post.Service.Thread for its bounds
//	POST statuses/:id/reblog                write:statuses   visibility
//	POST statuses/:id/unreblog              write:statuses
//	GET  statuses/:id/reblogged_by          public           pages
//	POST statuses/:id/favourite             write:favourites
//	POST statuses/:id/unfavourite           write:favourites
//	GET  statuses/:id/favourited_by         public           pages
//	POST statuses/:id/bookmark              write:bookmarks
//	POST statuses/:id/unbookmark            write:bookmarks
//	POST statuses/:id/pin                   write:accounts   one's own, at most 5
//	POST statuses/:id/unpin                 write:accounts
//	GET  accounts/:id/statuses              public           pages; exclude_replies, exclude_reblogs, only_media, tagged, pinned
//	GET  favourites                         read:favourites  pages
//	GET  bookmarks                          read:bookmarks   pages
//	GET  replies/received                   read:statuses    pages, an extension: all replies to the caller's posts
//	GET  timelines/home                     read:statuses    pages; with reposted_by, reposted_by_count and promoted, which are extensions
//	POST timelines/home/refresh             read:statuses and write:statuses  an extension: what is new, see app/marker; the header Kith-Marker has the position
//	GET  markers                            read:statuses    timeline[]=home, notifications
//	POST markers                            write:statuses   home[last_read_id], and as an extension home[version]; notifications likewise
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
//	GET  preferences                        read:accounts    the defaults, and reading:promotions
//	POST preferences                        write:accounts   an extension: reading:promotions
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
// # Errors
//
// An error is {"error": "a sentence", "code": "…"}. The sentence is for people and may
// change; the code is for programs and stays. core/error.go has the table.
//
//	400 invalid_request            cannot be read, or makes no sense
//	401 invalid_token              none, a bad one, or its account is gone
//	403 forbidden                  not between these two accounts, such as after a block
//	403 insufficient_scope         the token has none of the scopes of the endpoint
//	403 own_account                an account cannot follow, block or mute itself
//	404 not_found                  no such account or request
//	404 unknown_endpoint           the path is none of those above
//	405 method_not_allowed         the path is, with another method
//	408 request_timeout            the body did not come in time
//	409 conflict                   another was first: read again, and redo
//	413 request_too_large          the body is too long or has too many values
//	415 unsupported_media_type     the body is of another kind than the endpoint takes
//	417 expectation_failed         an Expect header other than 100-continue
//	422 validation_failed          a value is out of its bounds; the sentence says which
//	422 limit_reached              one more than the account may have
//	429 too_many_requests          Retry-After says in how many seconds to come again
//	431 headers_too_large          path and headers are longer than 32 KiB together
//	500 internal_error             a fault on this side, which the log explains
//	501 unknown_transfer_encoding  a Transfer-Encoding other than chunked
//	503 try_again                  the database is away or busy; Retry-After: 1
//	503 not_ready                  of /readyz and /health: not_ready names what is not
//	505 unknown_http_version       neither HTTP/1.0 nor HTTP/1.1
//
// # Promises
//
//   - Who acts is the account of the token, never a parameter. An account that is gone
//     makes its token as bad as a forged one. Interactions alone name their actors, and
//     need a token that names their scope.
//   - The affinity of accounts is never shown. Only the owner of a list of friends sees
//     it in that order; order=affinity on another's list is by time. In that order a page
//     has no link back, and its max_id is a cursor of its own (see app/affinity), so
//     that the order need not be named again, as with a cursor of the order by time.
//   - A caller sees the sentence of an error; its cause is logged once, with the request
//     id that the caller has too. No token, body or query is logged.
//   - Ids are strings of decimal digits. One that no account can have is 404 in a path
//     and unknown in a list of ids.
//   - max_id, since_id and min_id are cursors out of a Link header, not account ids. They
//     name a position, not a row, so they stay good when the account at that position
//     is gone. A page links to the next only if it is full.
//   - What an account did it can undo, also where it may no longer see the post: the repost,
//     favourite, bookmark or pin is gone, and the answer is then 404, as for every post that
//     is not seen. DELETE of one's own repost always answers with it, without the post
//     (reblog is null) where that is not seen.
//   - familiar_followers is an answer to show, not a count: see
//     relation.Service.FamiliarFollowers for what it leaves out.
//   - A page past very many blocked people, or posts that the caller does not see, is empty
//     or short, and links to the next.
//   - A body may be a form, JSON or multipart; unknown fields are ignored, values that
//     cannot be read are refused with 422.
//
// # Sessions
//
// A good token whose account exists is remembered for 30 seconds, or until it expires,
// which saves checking the signature and the account on each request. With the half
// minute of app/token, a key that the sign-in takes out of its JWKS thus works for a
// minute longer, as long as the JWKS can be fetched. A request with two Authorization
// headers is refused with 400.
//
// # Rate
//
// Windows of five minutes, the same for everybody, as in Mastodon; counted in this
// process, per account or, without a good token, per client address (IPv6: per /64).
// Everything counts but /livez, /readyz and /health. A million accounts and a million
// addresses have a counter each; later ones share 4,096. Behind a trusted proxy the
// client is the last address in X-Forwarded-For that is no trusted proxy; a header with
// anything else in it counts for the proxy.
//
// # Connections
//
// Their number is bounded; see package socket. /livez, /readyz and /metrics can have an
// address of their own (operations.Handler); then clients see no /metrics.
//
// # Headers
//
// Every answer says nosniff, no-store (but pictures) and that it is no page. Set BaseURL
// behind a proxy: without it links and instance pages have the name that their caller
// used for us.
package api
