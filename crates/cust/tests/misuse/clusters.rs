use cust::prelude::*;

fn main() {
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let _ = stream.clusters(4.0);
}
