package cron_test

import (
	"testing"

	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
