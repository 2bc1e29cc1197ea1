import IndoorVocabulary
import TextFormats

/// The image of a plan, which a figure has below its walls.
package struct PlanPicture: Hashable, Sendable {
    private enum Source: Hashable {
        /// The address of the image's data.
        case data(String)
        /// The identifier of an image with an edge of 1, which the page defines.
        case definition(String)
    }

    private let source: Source

    private init(_ source: Source) { self.source = source }

    /// Creates a picture that a figure contains.
    ///
    /// - Parameter mediaType: the type of the image, such as "image/png".
    package init(_ bytes: [UInt8], mediaType: String) {
        source = .data("data:\(mediaType);base64,\(Base64Text.text(of: bytes))")
    }

    /// Returns elements that define pictures once for all figures of a page, and the pictures that refer to them.
    package static func definitions(
        of pictures: [MapID: PlanPicture]
    ) -> (elements: String, references: [MapID: PlanPicture]) {
        var svg = SVGWriter()
        var references: [MapID: PlanPicture] = [:]
        for (map, picture) in pictures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard case .data(let address) = picture.source else { continue }
            svg.add(
                "image",
                [
                    "id": .text("plan-\(map)"), "width": 1, "height": 1, "preserveAspectRatio": "none",
                    "href": .text(address),
                ])
            references[map] = PlanPicture(.definition("plan-\(map)"))
        }
        guard !references.isEmpty else { return ("", [:]) }
        var page = SVGWriter()
        page.group("svg", ["width": 0, "height": 0, "style": "position:absolute", "aria-hidden": "true"]) { page in
            page.group("defs") { $0.append(svg.text) }
        }
        return (page.text, references)
    }

    /// Draws the picture in a rectangle.
    ///
    /// - Parameter isOver: whether it lies over the colours of a heat map, which then show through.
    func draw(in frame: Rectangle, isOver: Bool, _ svg: inout SVGWriter) {
        let style: SVGValue = isOver ? "f-over" : "f-plan"
        switch source {
        case .data(let address):
            svg.add(
                "image",
                [
                    "class": style, "x": .number(frame.x), "y": .number(frame.y), "width": .number(frame.width),
                    "height": .number(frame.height), "preserveAspectRatio": "none", "href": .text(address),
                ])
        case .definition(let identifier):
            let (x, y) = (SVGText.number(frame.x, decimals: 2), SVGText.number(frame.y, decimals: 2))
            let (width, height) = (SVGText.number(frame.width, decimals: 2), SVGText.number(frame.height, decimals: 2))
            svg.add(
                "use",
                [
                    "class": style, "href": .text("#" + identifier),
                    "transform": .text("translate(\(x) \(y)) scale(\(width) \(height))"),
                ])
        }
    }
}
