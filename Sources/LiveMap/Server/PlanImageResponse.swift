extension HTTPResponse {
    /// Returns the image of a plan or of one of its tiles, which the parameters of the request select.
    ///
    /// - Parameters:
    ///   - isTile: whether the request selects a tile, by level, column and row.
    ///   - plan: returns the image of a plan, by the numbers of the venue and of the map.
    ///   - tile: returns a tile, by the numbers of the venue and of the map, level, column and row.
    /// - Throws: `HTTPProblem` with status 400 if a parameter is missing or invalid, and with 404 without such an
    ///   image.
    package static func planImage(
        _ request: HTTPRequest, isTile: Bool, plan: @Sendable (Int, Int) async -> LiveMapImage?,
        tile: @Sendable (Int, Int, Int, Int, Int) async -> LiveMapImage?
    ) async throws(HTTPProblem) -> HTTPResponse {
        let venue = try request.requiredInteger("venue", in: .min ... .max)
        let map = try request.requiredInteger("map", in: .min ... .max)
        let image: LiveMapImage?
        if isTile {
            let level = try request.requiredInteger("level", in: 0...31)
            let column = try request.requiredInteger("column", in: 0...1_000_000)
            let row = try request.requiredInteger("row", in: 0...1_000_000)
            image = await tile(venue, map, level, column, row)
        } else {
            image = await plan(venue, map)
        }
        guard let image else { throw HTTPProblem(404, "Map \(map) of venue \(venue) has no such image.") }
        return .file(image.bytes, image.mediaType, tag: HTTPResponse.tag(of: image.bytes), for: request)
    }
}
