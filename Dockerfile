# One image with both binaries. Data lives in /data; everything else is set by environment variables (.env.example).
FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
RUN cargo build --profile dist --features local-embedder --locked

FROM debian:stable-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /data figaro
COPY --from=build /src/target/dist/figaro /src/target/dist/figaro-mcp /usr/local/bin/
USER figaro
WORKDIR /data
ENV STORE_URL=redb:/data/store
VOLUME /data
CMD ["figaro"]
