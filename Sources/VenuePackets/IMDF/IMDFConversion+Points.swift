import IndoorVocabulary
import VenueModel

extension IMDFConversion {
    /// Returns amenities, occupants, kiosks and the remaining anchors as points of interest, with all their properties
    /// as payload.
    mutating func pointsOfInterest() -> [PointOfInterest] {
        contents[.amenity].flatMap { amenity($0) } + occupantPoints() + kiosks() + looseAnchors()
    }

    // MARK: Amenities

    /// Returns a point for every level of an amenity's units; an elevator, for example, is on several levels.
    private mutating func amenity(_ amenity: IMDFFeature) -> [PointOfInterest] {
        guard let place = amenity.geometry?.point else { return [] }
        var seen: Set<String> = []
        var plans = amenity.ids("unit_ids").compactMap { units[$0]?.ids("level_id").first }
            .filter { seen.insert($0).inserted }.compactMap { self.plans[$0] }
        // A file of OpenStreetMap gives the levels of a point, but not its units.
        if plans.isEmpty { plans = amenity.ids("level_id").compactMap { self.plans[$0] } }
        if plans.isEmpty {
            plans = self.plans.values.filter { isInside(place, $0) }
            guard plans.count == 1 else {
                remark(
                    amenity, .leftOut, "it names no unit, and its position does not determine its level: give unit_ids")
                return []
            }
            remark(amenity, .changed, "it names no unit: it is on the only level at its position")
        }
        if plans.count > 1 {
            let levels =
                amenity.ids("unit_ids").isEmpty ? "it lies on several levels" : "its units lie on several levels"
            remark(amenity, .changed, "\(levels): it becomes a point on each")
        }
        let name = self.name(of: amenity) ?? words(amenity.category)
        return plans.enumerated().map { point(amenity, named: name, at: place, on: $1, part: $0) }
    }

    private func isInside(_ place: Coordinate, _ plan: Plan) -> Bool {
        let point = plan.frame.point(at: place)
        return (plan.level.geometry?.polygons ?? []).contains {
            PolygonPieces.contains(point, plan.frame.rings(of: $0))
        }
    }

    // MARK: Occupants, kiosks and anchors

    private func plan(ofAnchor anchor: IMDFFeature) -> Plan? {
        let unit = anchor.ids("unit_id").first.flatMap { units[$0] }
        return unit?.ids("level_id").first.flatMap { plans[$0] }
    }

    private mutating func occupantPoints() -> [PointOfInterest] {
        contents[.occupant].compactMap { occupant in
            guard let anchor = occupant.ids("anchor_id").first.flatMap({ anchors[$0] }),
                let place = anchor.geometry?.point, let plan = self.plan(ofAnchor: anchor)
            else { return nil }
            let name = self.name(of: occupant) ?? words(occupant.category)
            return point(occupant, named: name, at: place, on: plan, anchor: anchor)
        }
    }

    private mutating func kiosks() -> [PointOfInterest] {
        let occupied = Set(contents[.occupant].flatMap { $0.ids("anchor_id") })
        return contents[.kiosk].compactMap { kiosk in
            guard let plan = kiosk.ids("level_id").first.flatMap({ plans[$0] }) else { return nil }
            let anchor = kiosk.ids("anchor_id").first.flatMap { anchors[$0] }
            if let anchor, occupied.contains(anchor.id) {
                remark(kiosk, .leftOut, "its occupant is already a point of interest, and its outline is not a wall")
                return nil
            }
            guard let place = kiosk.displayPoint ?? anchor?.geometry?.point ?? middle(of: kiosk) else { return nil }
            remark(kiosk, .changed, "it becomes a point without its outline, which is not a wall: kiosks are movable")
            let name = self.name(of: kiosk) ?? "kiosk"
            return point(kiosk, named: name, at: place, on: plan, anchor: anchor)
        }
    }

    /// Returns the anchors without an occupant or a kiosk.
    private mutating func looseAnchors() -> [PointOfInterest] {
        let used = Set((contents[.occupant] + contents[.kiosk]).flatMap { $0.ids("anchor_id") })
        return contents[.anchor].compactMap { anchor in
            guard !used.contains(anchor.id), let place = anchor.geometry?.point, let plan = self.plan(ofAnchor: anchor),
                let unit = anchor.ids("unit_id").first.flatMap({ units[$0] })
            else { return nil }
            remark(anchor, .changed, "it has no occupant: it is named after its unit")
            let name = labels.choose(unit.properties["name"])?.text ?? words(unit.category)
            return point(anchor, named: name, at: place, on: plan)
        }
    }

    /// Returns the mean of the corners, which is accurate enough for a kiosk.
    private func middle(of feature: IMDFFeature) -> Coordinate? {
        guard let ring = feature.geometry?.polygons.first?.first else { return nil }
        let count = Double(ring.count)
        return Coordinate(
            latitude: ring.reduce(0) { $0 + $1.latitude } / count,
            longitude: ring.reduce(0) { $0 + $1.longitude } / count)
    }

    private mutating func point(
        _ feature: IMDFFeature, named name: String, at place: Coordinate, on plan: Plan, part: Int = 0,
        anchor: IMDFFeature? = nil
    ) -> PointOfInterest {
        let id = number(of: "poi", for: feature, part: part)
        if let anchor { identify("poi", id, anchor) }
        return PointOfInterest(
            id: id, name: name, mapID: plan.id,
            point: plan.frame.point(at: place), payload: payload(of: feature, anchor: anchor))
    }

    /// Returns all properties of a feature, so that the packet contains them.
    private func payload(of feature: IMDFFeature, anchor: IMDFFeature? = nil) -> JSONValue {
        var fields: [String: JSONValue] = [
            "featureType": .string(feature.type.rawValue), "id": .string(feature.id),
            "properties": JSONValue(.object(feature.properties.fields.filter { $0.value != .null })),
        ]
        let owner = anchor ?? feature
        if let address = owner.ids("address_id").first.flatMap({ addresses[$0] }) {
            fields["address"] = JSONValue(.object(address.properties.fields.filter { $0.value != .null }))
        }
        if let anchor { fields["unit"] = anchor.ids("unit_id").first.map { .string($0) } }
        return .object(fields)
    }

    // MARK: Geofences

    /// Returns a fence on each level of a geofence, or on each level of its buildings.
    mutating func fences(on levels: [Plan]) -> [Fence] {
        contents[.geofence].flatMap { geofence -> [Fence] in
            let ids = Set(geofence.ids("level_ids"))
            let buildings = Set(geofence.ids("building_ids"))
            let plans = levels.filter { plan in
                ids.isEmpty
                    ? !buildings.isDisjoint(with: plan.level.ids("building_ids")) : ids.contains(plan.level.id)
            }
            if plans.isEmpty {
                remark(geofence, .leftOut, "it names neither a level nor a building with one: give level_ids")
            }
            return fences(of: geofence, on: plans)
        }
    }

    private mutating func fences(of geofence: IMDFFeature, on plans: [Plan]) -> [Fence] {
        let name = self.name(of: geofence) ?? words(geofence.category)
        let polygons = geofence.geometry?.polygons ?? []
        if polygons.contains(where: { $0.count > 1 }) {
            remark(geofence, .changed, "it has holes, which a fence cannot have")
        }
        if plans.count * polygons.count > 1 {
            remark(geofence, .changed, "it has several levels or parts: each becomes a fence of the same name")
        }
        var part = 0
        return plans.flatMap { plan in
            polygons.compactMap { polygon -> Fence? in
                defer { part += 1 }
                guard let area = area(of: plan.frame.rings(of: polygon), of: geofence) else { return nil }
                return Fence(
                    id: number(of: "fence", for: geofence, part: part), name: name, mapID: plan.id, area: area,
                    payload: payload(of: geofence))
            }
        }
    }
}
