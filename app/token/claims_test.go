package token

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// signed is a token of a header and claims as they are written.
func signed(t testing.TB, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, secret)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

const (
	plainHeader = `{"alg":"HS256","typ":"JWT"}`
	plainRest   = `"scope":"read","exp":1777633200` // an hour after now
	plainClaims = `{"sub":"7",` + plainRest + `}`
)

// What two programs could read differently out of one token is refused.
func TestTokens_Header(t *testing.T) {
	tokens := open(t, Config{Secret: secret})
	good := []string{
		plainHeader, `{"alg":"HS256"}`, `{"alg":"HS256","typ":"jwt"}`, `{"alg":"HS256","typ":"at+jwt"}`,
		`{"alg":"HS256","typ":"application/at+JWT"}`, `{"alg":"HS256","kid":"any","x":{"a":[1]}}`,
		`{"alg":"HS256","Crit":["b64"],"ALG":"none"}`,
		`{"alg":"HS256","jku":"http://127.0.0.1:1/keys","x5u":"http://127.0.0.1:1/","jwk":{"kty":"oct","k":"AA"}}`,
	}
	for _, header := range good {
		if _, err := tokens.Verify(t.Context(), signed(t, header, plainClaims)); err != nil {
			t.Errorf("%s: got %v, want it good", header, err)
		}
	}
	for _, header := range []string{
		`{"alg":"HS256","crit":["exp"]}`, `{"alg":"HS256","crit":["b64"],"b64":false}`, `{"alg":"HS256","crit":[]}`, `{"alg":"HS256","crit":null}`,
		`{"alg":"none","alg":"HS256"}`, `{"alg":"HS256","alg":"HS256"}`, `{"alg":"RS256","\u0061lg":"HS256"}`, `{"Alg":"HS256"}`,
		`{"alg":"HS256","typ":"JWT","typ":"at+jwt"}`, `{"alg":"HS256","x":1,"x":2}`,
		`{"alg":"HS256","typ":"logout+jwt"}`, `{"alg":"HS256","typ":"dpop+jwt"}`, `{"alg":"HS256","typ":""}`, `{"alg":"HS256","typ":7}`,
		`{"alg":"HS256","typ":null}`, `{"alg":"HS256","kid":7}`, `{"alg":"HS256","kid":null}`, `{"alg":["HS256"]}`, `{"alg":"hs256"}`,
		`{"alg":""}`, `{}`, `[]`, `null`, `"HS256"`, ``, `{"alg":"HS256"}{}`, "{\"alg\":\"HS256\",\"x\":\"\xff\"}", "\ufeff" + plainHeader,
	} {
		if _, err := tokens.Verify(t.Context(), signed(t, header, plainClaims)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", header, err)
		}
	}
}

func TestTokens_Claims(t *testing.T) {
	tokens := open(t, Config{Secret: secret, Audience: "kith", Issuer: "https://sign.in"})
	const sub, exp, who = `"sub":"7"`, `"exp":1777633200`, `"iss":"https://sign.in","aud":"kith"`
	join := func(claims ...string) string { return "{" + strings.Join(claims, ",") + "}" }
	for _, claims := range []string{
		join(sub, exp, who), join(sub, `"exp":1777633200.9`, who), join(sub, `"exp":17776332e2`, who), join(sub, `"exp":253402300799`, who),
		join(sub, exp, who, `"nbf":0,"iat":1.5`), join(sub, exp, `"iss":"https://sign.in","aud":["shop","kith"]`),
		join(sub, exp, who, `"Sub":"1","SUB":"2","Exp":1,"scopE":"write"`), // of no meaning
		join(sub, exp, who, `"x":`+strings.Repeat("[", 2500)+strings.Repeat("]", 2500)),
	} {
		got, err := tokens.Verify(t.Context(), signed(t, plainHeader, claims))
		if err != nil || got.Account != 7 || len(got.Scopes) != 0 {
			t.Errorf("%.200s: got %+v, %v; want account 7 and no scope", claims, got, err)
		}
	}
	bad := []string{
		join(sub, `"sub":"1"`, exp, who), join(`"sub":"1"`, `"\u0073ub":"7"`, exp, who), join(`"Sub":"7"`, exp, who),
		join(sub, exp, exp, who), join(sub, exp, who, `"x":1,"x":1`), join(sub, exp, who, `"scope":"read","scope":"write"`),
		join(sub, `"EXP":1777633200`, who), join(sub, exp, `"Iss":"https://sign.in","Aud":"kith"`),
		`[]`, `null`, `"x"`, ``, join(sub, exp, who) + `{}`, "\ufeff" + join(sub, exp, who), join(sub, exp, who, "\"x\":\"\xff\""),
		strings.Repeat(`{"x":`, 3000),
	}
	for _, v := range []string{`7`, `null`, `true`, `["7"]`, `{"7":7}`, `""`, `" 7"`, `"7 "`, `"7.0"`, `"1_0"`, `"0x7"`, `"７"`, `"7\u0000"`} {
		bad = append(bad, join(`"sub":`+v, exp, who))
	}
	for _, v := range []string{`"1777633200"`, `null`, `true`, `[]`, `[1777633200]`, `{}`, `-1`, `1e300`, `1e400`, `253402300800`, `""`} {
		bad = append(bad, join(sub, `"exp":`+v, who), join(sub, exp, who, `"nbf":`+v), join(sub, exp, who, `"iat":`+v))
	}
	for _, v := range []string{`"shop"`, `"Kith"`, `""`, `[]`, `[""]`, `["shop"]`, `7`, `null`, `{"kith":1}`, `[1,"kith"]`, `[null,"kith"]`, `[["kith"]]`} {
		bad = append(bad, join(sub, exp, `"iss":"https://sign.in"`, `"aud":`+v))
	}
	for _, v := range []string{`"https://sign.in/"`, `["https://sign.in"]`, `null`, `""`, `7`} {
		bad = append(bad, join(sub, exp, `"aud":"kith"`, `"iss":`+v))
	}
	for _, v := range []string{`7`, `null`, `["read"]`, `{}`} {
		bad = append(bad, join(sub, exp, who, `"scope":`+v))
	}
	for _, claims := range bad {
		if got, err := tokens.Verify(t.Context(), signed(t, plainHeader, claims)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.200s: got %+v, %v; want ErrInvalid", claims, got, err)
		}
	}
}

// A token has one way to be written.
func TestTokens_Shape(t *testing.T) {
	tokens := open(t, Config{Secret: secret})
	text := signed(t, plainHeader, plainClaims)
	if _, err := tokens.Verify(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	end := text[len(text)-1]
	twin := text[:len(text)-1] + string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", end)^1])
	for name, other := range map[string]string{
		"line break": text[:5] + "\n" + text[5:], "line break at the end": text + "\n", "return": text[:5] + "\r" + text[5:], "space": text + " ",
		"padding": text + "=", "four parts": text + ".", "two parts": text[:strings.LastIndexByte(text, '.')], "nul": text + "\x00",
		"other last bits": twin, "two tokens": text + "," + text,
		"too long": signed(t, plainHeader, fmt.Sprintf(`{"sub":"7",%s,"x":"%s"}`, plainRest, strings.Repeat("x", MaxToken))),
	} {
		if _, err := tokens.Verify(t.Context(), other); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
