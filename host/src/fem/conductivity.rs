//! Conductivity tensors.

/// The conductivity tensor of a bundle of fibres, in the unit of `sigma_l` and `sigma_t` (mS/mm):
///
/// ```text
/// sigma_t I + (sigma_l - sigma_t) f f^T
/// ```
///
/// `fibre` is the unit vector f along the fibres, `sigma_l` the conductivity along them, and `sigma_t` the
/// one across. The tensor is symmetric to the last bit, and positive definite if both conductivities are
/// positive.
pub fn transversely_isotropic(fibre: [f64; 3], sigma_l: f64, sigma_t: f64) -> [[f64; 3]; 3] {
    std::array::from_fn(|x| {
        std::array::from_fn(|y| {
            let isotropic = if x == y { sigma_t } else { 0.0 };
            isotropic + (sigma_l - sigma_t) * (fibre[x] * fibre[y])
        })
    })
}
