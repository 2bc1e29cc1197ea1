/// Limits that keep the conversion of a level within reasonable time.
extension IMDFConversion {
    /// Reports levels whose features have too many corners or overlaps.
    ///
    /// Units and fixtures are cut along the ones they overlap, and paths run around the corners of all of them.
    mutating func checkLimits(of plans: [Plan]) {
        for plan in plans {
            let things = features(.unit, on: plan) + features(.fixture, on: plan)
            let outlines = things.flatMap { self.outlines(of: $0, on: plan) }
            let openings = features(.opening, on: plan).flatMap { $0.geometry?.lines ?? [] }
            let corners = openings.reduce(outlines.reduce(0) { $0 + $1.corners }) { $0 + $1.count }
            if corners > IMDFArchive.Limit.corners {
                refuse(
                    plan,
                    "its features have \(corners) corners, more than the limit of \(IMDFArchive.Limit.corners) for a "
                        + "level; simplify them")
            } else if Self.overlapsTooOften(outlines) {
                refuse(
                    plan,
                    "its units and fixtures overlap more than \(IMDFArchive.Limit.pairs) times; draw each place once"
                )
            }
        }
    }

    /// Reports a level during whose conversion the work of the import exceeds its limit.
    mutating func checkWork(on plan: Plan) {
        guard work.isSpent, problems.isEmpty else { return }
        let place = work.last.isEmpty ? "" : ", up to \(work.last)"
        refuse(plan, "its outlines lie too close together to be compared with each other\(place); simplify them")
    }

    /// Returns the content without the outlines of units and fixtures that cross themselves too often.
    ///
    /// Such an outline encloses no meaningful area, and would produce as many walls as crossings.
    static func withoutTangles(_ contents: IMDFContents) -> (contents: IMDFContents, tangled: [IMDFFeature]) {
        var contents = contents
        var tangles = OutlineTangles()
        var tangled: [IMDFFeature] = []
        for type in [IMDFFeatureType.level, .unit, .fixture] {
            contents.features[type] = contents[type].map { feature in
                let rings = (feature.geometry?.polygons ?? []).joined()
                guard rings.contains(where: { tangles.isTangled($0) }) else { return feature }
                tangled.append(feature)
                return feature.withoutGeometry
            }
        }
        return (contents, tangled)
    }

    /// Reports a venue with a radius in metres that no packet can have.
    mutating func checkRadius(_ radius: Double) {
        let limit = NumberRule.length.range.upperBound
        guard radius > limit else { return }
        problems.append(
            IMDFProblem(
                file: IMDFFeatureType.venue.file, path: "$",
                message: "its features are up to \(Int(radius / 1000)) km from its center, more than the limit of "
                    + "\(Int(limit / 1000)) km; \(contents.advice.distant)"))
    }

    private mutating func refuse(_ plan: Plan, _ message: String) {
        problems.append(
            IMDFProblem(
                file: IMDFFeatureType.level.file, path: "$", message: "level \(plan.level.id): \(message)"))
    }

    private typealias Outline = (box: PlanBox, corners: Int)

    private func outlines(of feature: IMDFFeature, on plan: Plan) -> [Outline] {
        let rings = rings(of: feature, on: plan).map { polygon in
            (PlanBox(around: polygon.first ?? []), polygon.reduce(0) { $0 + $1.count })
        }
        return rings + (feature.geometry?.lines ?? []).map { (PlanBox(around: plan.frame.points(at: $0)), $0.count) }
    }

    /// Returns whether boxes overlap more than those of neighbours, which share a wall.
    private static func overlap(_ one: PlanBox, _ other: PlanBox) -> Bool {
        min(one.maxX, other.maxX) - max(one.minX, other.minX) > IMDFWalls.thickestWall
            && min(one.maxY, other.maxY) - max(one.minY, other.minY) > IMDFWalls.thickestWall
    }

    /// Sweeps over the left edges of the boxes, and stops at the limit.
    private static func overlapsTooOften(_ outlines: [Outline]) -> Bool {
        var open: [Outline] = []
        var (pairs, corners) = (0, 0)
        for outline in outlines.sorted(by: { $0.box.minX < $1.box.minX }) {
            open.removeAll { $0.box.maxX < outline.box.minX }
            for other in open where overlap(other.box, outline.box) {
                pairs += 1
                corners += other.corners * outline.corners
                if pairs > IMDFArchive.Limit.pairs || corners > IMDFArchive.Limit.cornerPairs { return true }
            }
            open.append(outline)
        }
        return false
    }
}
