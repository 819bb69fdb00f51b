# kith as one static program, and nothing else in the image.
#
#   docker build -t kith --build-arg VERSION=$(git describe --tags --always) .

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/kith ./cmd/kith \
	&& install -d -m 1777 /out/tmp

FROM scratch
# For TLS to MySQL and to the sign-in's key set.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
# Imports sort in /tmp.
COPY --from=build /out/tmp /tmp
COPY --from=build /out/kith /kith
ENV KITH_LISTEN=:8080
EXPOSE 8080
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["/kith", "health"]
ENTRYPOINT ["/kith"]
CMD ["serve"]
