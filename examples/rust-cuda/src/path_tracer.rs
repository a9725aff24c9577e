//! A small path tracer: spheres under a sky, light by chance.

use cuda_std::GpuFloat;
use cuda_std::glam::{USizeVec2, Vec3};
use cuda_std::prelude::*;

/// How a surface answers light.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum Material {
    /// In all directions.
    Diffuse(Vec3),
    /// As a mirror, blurred by so much.
    Metallic(Vec3, f32),
}

/// A sphere.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sphere {
    /// Its centre.
    pub center: Vec3,
    /// Its radius.
    pub radius: f32,
    /// Its material, of the scene's.
    pub material: usize,
}

/// All there is to see.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scene<'a> {
    /// Its spheres.
    pub spheres: &'a [Sphere],
    /// What they are of.
    pub materials: &'a [Material],
}

/// Where the eye is.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct View {
    /// Pixels along x and y.
    pub bounds: USizeVec2,
    /// The eye.
    pub origin: Vec3,
    /// The lower left corner of the picture.
    pub lower_left: Vec3,
    /// Its edges.
    pub horizontal: Vec3,
    /// Its edges.
    pub vertical: Vec3,
}

/// A point where light meets a surface.
struct Hit {
    point: Vec3,
    normal: Vec3,
    material: usize,
}

/// Random numbers: xorshift (Marsaglia, 2003).
struct Random(u32);

impl Random {
    /// From 0 to below 1.
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }

    /// A direction, each as likely as others.
    fn direction(&mut self) -> Vec3 {
        let z = 1.0 - 2.0 * self.next();
        let (sin, cos) = GpuFloat::sin_cos(core::f32::consts::TAU * self.next());
        let r = GpuFloat::sqrt(1.0 - z * z);
        Vec3::new(r * cos, r * sin, z)
    }
}

impl Sphere {
    /// The distance at which a ray meets it first.
    fn distance(&self, origin: Vec3, direction: Vec3) -> Option<f32> {
        let to = origin - self.center;
        let (b, c) = (to.dot(direction), to.length_squared() - self.radius * self.radius);
        let root = b * b - c;
        if root < 0.0 {
            return None;
        }
        let root = GpuFloat::sqrt(root);
        [-b - root, -b + root].into_iter().find(|&t| t > 1e-3)
    }
}

impl Scene<'_> {
    fn hit(&self, origin: Vec3, direction: Vec3) -> Option<Hit> {
        let mut nearest = f32::INFINITY;
        let mut hit = None;
        for sphere in self.spheres {
            if let Some(t) = sphere.distance(origin, direction) {
                if t < nearest {
                    nearest = t;
                    let point = origin + t * direction;
                    let normal = (point - sphere.center) / sphere.radius;
                    hit = Some(Hit { point, normal, material: sphere.material });
                }
            }
        }
        hit
    }

    fn color(&self, mut origin: Vec3, mut direction: Vec3, random: &mut Random) -> Vec3 {
        let mut color = Vec3::ONE;
        for _ in 0..5 {
            let Some(hit) = self.hit(origin, direction) else {
                let up = 0.5 * (direction.y + 1.0);
                return color * Vec3::ONE.lerp(Vec3::new(0.5, 0.7, 1.0), up);
            };
            origin = hit.point;
            match self.materials[hit.material] {
                Material::Diffuse(own) => {
                    color *= own;
                    direction = (hit.normal + 0.999 * random.direction()).normalize();
                }
                Material::Metallic(own, blur) => {
                    color *= own;
                    let mirrored = direction - 2.0 * direction.dot(hit.normal) * hit.normal;
                    direction = (mirrored + blur * random.direction()).normalize();
                }
            }
        }
        Vec3::ZERO
    }
}

/// The mean colour of `samples` rays through each pixel.
#[kernel]
pub unsafe fn path_tracer(picture: *mut Vec3, view: View, scene: &Scene, samples: u32) {
    let idx = thread::index_2d();
    if idx.x >= view.bounds.x as u32 || idx.y >= view.bounds.y as u32 {
        return;
    }
    let px_idx = idx.y as usize * view.bounds.x + idx.x as usize;
    let mut random = Random((px_idx as u32 + 1).wrapping_mul(0x9e37_79b9) | 1);
    let mut sum = Vec3::ZERO;
    for _ in 0..samples {
        let u = (idx.x as f32 + random.next()) / view.bounds.x as f32;
        let v = (idx.y as f32 + random.next()) / view.bounds.y as f32;
        let target = view.lower_left + u * view.horizontal + v * view.vertical;
        sum += scene.color(view.origin, (target - view.origin).normalize(), &mut random);
    }
    *picture.add(px_idx) = sum / samples as f32;
}

/// The picture as bytes, for screens with a gamma of 2.
#[kernel]
pub unsafe fn to_bytes(picture: *const Vec3, out: *mut [u8; 3], view: View) {
    let idx = thread::index_2d();
    if idx.x >= view.bounds.x as u32 || idx.y >= view.bounds.y as u32 {
        return;
    }
    let px_idx = idx.y as usize * view.bounds.x + idx.x as usize;
    let original = &*picture.add(px_idx);
    *out.add(px_idx) = original.to_array().map(|part| (GpuFloat::sqrt(part.clamp(0.0, 1.0)) * 255.0) as u8);
}
