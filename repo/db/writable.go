package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
)

// ErrReadOnly says that a server answers and takes no writes: a replica, such as a
// primary becomes that was demoted. It comes with repo.ErrUnavailable.
var ErrReadOnly = errors.New("the server is read-only")

// Writable checks that the server of a pool answers and is there to be written to. A
// user who may write all the same (READ ONLY ADMIN) is refused too, and so is one whose
// sessions are READ WRITE whatever tx_read_only says: who sets these means that the
// server follows another, where what is written is lost.
func Writable(ctx context.Context, pool *sqlx.DB) error {
	var rules []rule
	// No index: these are settings of the server. One that it does not know is not
	// among them; @@name would be an error.
	err := pool.SelectContext(ctx, &rules, `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', `+
		`'innodb_read_only', 'tx_read_only', 'transaction_read_only', 'tidb_restricted_read_only', 'tidb_super_read_only')`)
	if err != nil {
		return fmt.Errorf("ask whether the server takes writes: %w", Wrap(err))
	}
	if forbids := forbidding(rules); forbids != "" {
		return fmt.Errorf("%w (%s): %w", ErrReadOnly, forbids, repo.ErrUnavailable)
	}
	return nil
}

// rule is a setting of a server that may forbid writing.
type rule struct {
	Name  string `db:"Variable_name"`
	Value string `db:"Value"`
}

// forbidding names the rules that are on. Some servers know more values than ON,
// which forbid less, but each of them something.
func forbidding(rules []rule) string {
	var on []string
	for _, r := range rules {
		if v := strings.ToUpper(r.Value); v != "OFF" && v != "0" {
			on = append(on, r.Name+"="+r.Value)
		}
	}
	return strings.Join(on, ", ")
}
