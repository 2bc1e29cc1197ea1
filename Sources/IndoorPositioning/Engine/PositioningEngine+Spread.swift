import CMath
import IndoorVocabulary
import VenueModel

extension PositioningEngine {
    /// Returns the error covariance of a point on a map, scaled to the radius.
    func covariance(mapIndex: Int, around point: MapPoint, radius: Double) -> PositionCovariance? {
        guard let shape = filter.covariance(mapIndex: mapIndex, around: point) else { return nil }
        // The lower bound of the radius is isotropic.
        let floor = radiusFloor / PositionCovariance.radiusOfDeviation
        let (xx, yy) = (shape.xx + floor * floor, shape.yy + floor * floor)
        let wanted = radius / PositionCovariance.radiusOfDeviation
        let scale = 2 * wanted * wanted / (xx + yy)
        guard scale.isFinite else { return nil }
        return PositionCovariance(xx: xx * scale, xy: shape.xy * scale, yy: yy * scale)
    }

    /// Returns the probability of each room given that the device is on a map, by room index, for rooms with a
    /// probability above 0.
    package func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] {
        guard settings.method == .particle, !rooms.index.rooms.isEmpty,
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == map })
        else { return [] }
        let grid = field.maps[mapIndex].grid
        let members = filter.particles.range(of: mapIndex)
        var cells = [Int32](repeating: 0, count: members.count)
        var place = grid.cells
        cmath_cells(&place, members.lowerBound, members.count, filter.particles.x, filter.particles.y, &cells)
        let sums = rooms.sums(of: cells, weights: filter.particles.weight[members], on: map, grid: grid)
        guard sums.total > 0 else { return [] }
        return sums.rooms.map { ($0.room, $0.weight / sums.total) }
    }
}

extension ParticleFilter {
    /// Returns the covariance of a map's particles about a point, in m²; nil if the sum of their weights is zero.
    func covariance(mapIndex: Int, around point: MapPoint) -> PositionCovariance? {
        var (all, xx, xy, yy) = (0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            let (dx, dy) = (Double(particles.x[index]) - point.x, Double(particles.y[index]) - point.y)
            all += weight
            xx += weight * dx * dx
            xy += weight * dx * dy
            yy += weight * dy * dy
        }
        return all > 0 ? PositionCovariance(xx: xx / all, xy: xy / all, yy: yy / all) : nil
    }
}
