use cust::prelude::*;

fn launch(module: &Module, stream: &Stream, x: &[f32]) -> cust::error::CudaResult<()> {
    let y = x.to_vec();
    unsafe { launch!(module.scale<<<1, 32, 0, stream>>>(x.len(), y)) }
}

fn main() {
    let _ = launch;
}
