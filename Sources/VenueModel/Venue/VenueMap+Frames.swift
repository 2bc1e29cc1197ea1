import IndoorVocabulary

// The frames of a plan: metres on the map, pixels of its image, and coordinates on Earth.
extension VenueMap {
    /// The same point on the map in metres; nil if the image's size is unknown.
    public func point(at pixel: PixelPoint) -> MapPoint? {
        guard let widthPixels, let heightPixels, widthPixels > 0, heightPixels > 0 else { return nil }
        return MapPoint(x: pixel.x / Double(widthPixels) * width, y: pixel.y / Double(heightPixels) * height)
    }

    /// The coordinate of a pixel; nil if the image's size or the georeference is unknown.
    ///
    /// Fits control points anew by each call; for many points, keep the map's `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference does not fix the plan on Earth.
    public func coordinate(at pixel: PixelPoint) throws(GeoreferenceError) -> Coordinate? {
        guard let transform = try geoTransform(), let point = point(at: pixel) else { return nil }
        return transform.coordinate(at: point)
    }

    /// The pixel at a coordinate, which may lie beyond the image's edges; nil if the image's size or the georeference
    /// is unknown.
    ///
    /// Fits control points anew by each call; for many points, keep the map's `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference does not fix the plan on Earth.
    public func pixel(at coordinate: Coordinate) throws(GeoreferenceError) -> PixelPoint? {
        guard let transform = try geoTransform() else { return nil }
        return pixel(at: transform.point(at: coordinate))
    }

    /// The map's transform to and from coordinates; nil without a georeference.
    ///
    /// Build it once and keep it: control points are fitted anew by each call.
    /// - Throws: `GeoreferenceError` if the georeference does not fix the plan on Earth.
    public func geoTransform() throws(GeoreferenceError) -> GeoTransform? {
        guard let georeference else { return nil }
        return try GeoTransform(georeference, width: width, height: height)
    }
}
