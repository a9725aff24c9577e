//! Pixels: rectangles, letters, and the PNG file.

use std::io::{self, Write};

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Red, green, blue (sRGB).
pub(super) type Colour = [u8; 3];

pub(super) const BLACK: Colour = [0; 3];
pub(super) const WHITE: Colour = [255; 3];

const FONT: (FontWeight, RasterHeight) = (FontWeight::Regular, RasterHeight::Size20);
/// Width of a letter, pixels.
pub(super) const LETTER: usize = get_raster_width(FONT.0, FONT.1);
/// Distance of two lines of text, pixels.
pub(super) const LINE: usize = 24;

/// A picture.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Canvas {
    /// A picture with the colour `of(x, y)` at column x and row y, counted from the upper left corner.
    pub fn of(width: usize, height: usize, of: impl Fn(usize, usize) -> Colour) -> Canvas {
        let pixels =
            (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| of(x, y)).collect();
        Canvas { width, height, pixels }
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixel at column x and row y.
    #[cfg(test)]
    pub fn at(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }

    /// Mixes a `share` of a colour into a pixel. Beyond the edge nothing happens.
    fn cover(&mut self, x: usize, y: usize, colour: Colour, share: f64) {
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = mix(*pixel, colour, share);
        }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], colour: Colour) {
        for y in top..top + height {
            (left..left + width).for_each(|x| self.cover(x, y, colour, 1.0));
        }
    }

    /// Writes a line of ASCII text; its upper left corner is given.
    pub fn text(&mut self, [left, top]: [usize; 2], text: &str) {
        for (k, letter) in text.chars().enumerate() {
            let Some(glyph) = get_raster(letter, FONT.0, FONT.1) else { continue };
            for (y, row) in glyph.rows().enumerate() {
                for (x, &ink) in row.iter().enumerate() {
                    self.cover(left + k * LETTER + x, top + y, BLACK, f64::from(ink) / 255.0);
                }
            }
        }
    }

    /// Writes the picture as a PNG file.
    pub fn write_png(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(to, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        Ok(writer.finish()?)
    }
}

/// `share` of `b`, the rest of `a`.
pub(super) fn mix(a: Colour, b: Colour, share: f64) -> Colour {
    std::array::from_fn(|k| (f64::from(a[k]) + share * (f64::from(b[k]) - f64::from(a[k]))).round() as u8)
}
