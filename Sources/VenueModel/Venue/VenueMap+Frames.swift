import IndoorVocabulary

// The frames of a plan: metres on the map, pixels of its image, and coordinates on Earth.
extension VenueMap {
    /// Returns the point on the map in metres; nil if the image size is unknown.
    public func point(at pixel: PixelPoint) -> MapPoint? {
        guard let widthPixels, let heightPixels, widthPixels > 0, heightPixels > 0 else { return nil }
        return MapPoint(x: pixel.x / Double(widthPixels) * width, y: pixel.y / Double(heightPixels) * height)
    }

    /// Returns the coordinate of a pixel; nil if the image size or the georeference is unknown.
    ///
    /// Each call fits the control points again. For many points, store the result of `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func coordinate(at pixel: PixelPoint) throws(GeoreferenceError) -> Coordinate? {
        guard let transform = try geoTransform(), let point = point(at: pixel) else { return nil }
        return transform.coordinate(at: point)
    }

    /// Returns the pixel at a coordinate, which can be beyond the edges of the image; nil if the image size or the
    /// georeference is unknown.
    ///
    /// Each call fits the control points again. For many points, store the result of `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func pixel(at coordinate: Coordinate) throws(GeoreferenceError) -> PixelPoint? {
        guard let transform = try geoTransform() else { return nil }
        return pixel(at: transform.point(at: coordinate))
    }

    /// Returns the transform between the map and coordinates; nil without a georeference.
    ///
    /// Store the result for repeated use, because each call fits the control points again.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func geoTransform() throws(GeoreferenceError) -> GeoTransform? {
        guard let georeference else { return nil }
        return try GeoTransform(georeference, width: width, height: height)
    }
}
