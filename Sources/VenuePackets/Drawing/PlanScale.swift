import IndoorVocabulary

/// The scale of a plan's image: two of its points and the distance between them in the building.
public struct PlanScale: Hashable, Sendable {
    /// Metres in the building per pixel of the image.
    public let metersPerPixel: Double
    /// The relative change of all distances, in (0, 1], if one of the points is wrong by one pixel.
    package let errorPerPixel: Double

    /// Creates a scale.
    ///
    /// - Parameters:
    ///   - first: a point of the image.
    ///   - second: another point of the image, as far from the first as possible: an error of one pixel at a point
    ///     changes all distances by 1 / (number of pixels between the points).
    ///   - meters: the distance between the points in the building, above 0.
    /// - Throws: `PlanDrawingError` if the points are less than one pixel apart, or a number isn't finite or above 0.
    public init(from first: PixelPoint, to second: PixelPoint, meters: Double) throws(PlanDrawingError) {
        let (x, y) = (second.x - first.x, second.y - first.y)
        let pixels = (x * x + y * y).squareRoot()
        guard pixels >= 1 else {
            throw PlanDrawingError("the two points of the scale are less than one pixel apart; give points far apart")
        }
        guard meters > 0, meters.isFinite, pixels.isFinite else {
            throw PlanDrawingError(
                "the distance of the scale is \(meters) m; give a number above 0, and points of the image")
        }
        metersPerPixel = meters / pixels
        errorPerPixel = 1 / pixels
    }

    /// Returns the point of the map at a point of the image.
    package func point(at pixel: PixelPoint) -> MapPoint {
        MapPoint(x: pixel.x * metersPerPixel, y: pixel.y * metersPerPixel)
    }
}

/// An image or a scale from which no map can be made.
public struct PlanDrawingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and its remedy.
    public let description: String

    init(_ description: String) { self.description = PrintableText.line(description) }
}
