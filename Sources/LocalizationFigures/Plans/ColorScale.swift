import TextFormats

/// A colour scale for heat maps that increases in lightness, so that it is readable with any kind of colour vision and
/// in grey.
///
/// Source: S. van der Walt and N. Smith, *Viridis*, matplotlib, 2015.
package enum ColorScale: Sendable {
    /// The colours at equal distances, as red, green and blue from 0 to 255.
    private static let stops: [(Double, Double, Double)] = [
        (68, 1, 84), (72, 40, 120), (62, 73, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137), (53, 183, 121),
        (110, 206, 88), (181, 222, 43), (253, 231, 37),
    ]

    /// Returns the colour of a share of the scale as hexadecimal digits of red, green and blue; the share is clamped to
    /// [0, 1].
    package static func hex(_ share: Double) -> String {
        let place = min(max(share.isNaN ? 0 : share, 0), 1) * Double(stops.count - 1)
        let index = min(Int(place), stops.count - 2)
        let (first, second, weight) = (stops[index], stops[index + 1], place - Double(index))
        return [(first.0, second.0), (first.1, second.1), (first.2, second.2)].map { from, to in
            HexDigits.text(Int((from + (to - from) * weight).rounded()), 2, uppercase: false)
        }.joined()
    }
}
